"""What search looks at: beside the store, filled behind intake, and made anew from it at any time.

`EventSearch` is range-partitioned by day as the parked event is, so that its index dies with the day.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from parking.models.event import EventState
from parking.models.flow import Flow


class EventSearch(models.Model):
    """The words of one parked event, hashed with its flow: a question about one flow cannot touch another's words.

    The first `open` of the words are those of what everybody may see who sees the flow; behind them are the payload's,
    the headers' and the error messages', hashed in another way. Scrubbing leaves the first.
    """

    event_state = models.OneToOneField(
        EventState,
        primary_key=True,
        db_column="id",
        db_constraint=False,
        on_delete=models.DO_NOTHING,
        related_name="search",
    )
    stored_at = models.DateTimeField()
    flow = models.ForeignKey(Flow, db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+")
    event_id = models.TextField(help_text="for prefixes")
    key = models.BinaryField(help_text="for prefixes: the first 256 bytes of the hold key")
    words = ArrayField(models.BigIntegerField())
    open = models.IntegerField(help_text="how many of the words are open, the first ones")
    cut = models.BooleanField(help_text="the payload was too long: only its beginning was read")


class IndexPosition(models.Model):
    """How far the index is. One row; its lock is held by whoever changes `EventSearch`."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    event_id = models.BigIntegerField(default=0, help_text="every EventState up to this id is indexed")
    attempt_id = models.BigIntegerField(default=0, help_text="so is every Attempt, unless its event is not")
    open_id = models.BigIntegerField(default=0, help_text="entries from this id on are in segments without indexes")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="index_position_one")]


class IndexedDay(models.Model):
    """What is indexed of one flow and day (UTC): in how many events a search has looked, and how well."""

    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, db_index=False, related_name="+")
    day = models.DateField()
    events = models.BigIntegerField()
    cut = models.BigIntegerField(default=0, help_text="of them, those read only in part")
    scrubbed = models.BigIntegerField(default=0, help_text="of them, those without the words of their payload")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "day"], name="indexed_day_once")]


class CommonWords(models.Model):
    """Words that many events of a flow and day have in common, and the number that stands for them in `words`."""

    day = models.DateField()
    flow = models.ForeignKey(Flow, db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name="+")
    number = models.BigIntegerField()
    words = ArrayField(models.BigIntegerField())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "flow", "number"], name="common_words_once")]
