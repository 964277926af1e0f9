"""The parked event in its pieces, apart because they change, grow and die at different speeds (ARCHITECTURE, "Tables").

`EventState` is the row that everything refers to. `ParkedEvent` (immutable) and `EventPayload` (exact bytes) are
range-partitioned by `stored_at`, our own clock: a foreign timestamp cannot create partitions.

The database does not check the references of what intake writes for each record (`db_constraint=False`): nine checks
took PostgreSQL longer than storing the rows. Intake writes both ends in one transaction, under the locks of the keys;
what must not be deleted is refused where it is deleted (`UNSETTLED_STAYS`, `parking.models.kept`).
"""

from collections.abc import Collection
from typing import Self

import pgtrigger
from django.db import models

from parking.models.error_group import ErrorGroup
from parking.models.flow import Cluster, Flow
from parking.models.intake_position import TopicIncarnation
from parking.models.quarantine import Quarantine

NOT_FETCHED = "Key and value are not in the record: they are still to be fetched from the source topic."
"""How `ParkedEvent.not_original` begins for an event that arrived as a pointer to what could not be read."""

UNSETTLED_STAYS = pgtrigger.Trigger(
    name="unsettled_stays",
    when=pgtrigger.Before,
    operation=pgtrigger.Delete,
    func="""
        IF EXISTS (
            SELECT FROM parking_eventstate e LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id
            WHERE e.id = OLD.id AND (e.state = 'parked' OR q.state <> 'released')
        ) THEN
            RAISE EXCEPTION 'event % is not settled, or its key is not released: it stays', OLD.id;
        END IF;
        RETURN OLD;
    """,
)
"""The database itself refuses to lose what still waits, whoever deletes (guarantee 1)."""


class EventStateQuerySet(models.QuerySet["EventState"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows: what a viewer may see."""
        return self.filter(flow_id__in=flow_ids)

    def unsettled(self, quarantine: Quarantine | int) -> Self:
        """What waits in a quarantine, head first."""
        return self.filter(quarantine=quarantine, state="parked").order_by("position")

    def asked(self) -> Self:
        """What needs a decision: poison, and what would not be sent with its original bytes."""
        return self.filter(models.Q(kind="poison") | ~models.Q(event__not_original=""))

    def undecided(self) -> Self:
        """What needs a decision and has none."""
        return self.asked().filter(decision__isnull=True)

    def to_be_fetched(self, *, after: int) -> Self:
        """What waits with its key and value still in the source topic only, of ids beyond `after`, the oldest first."""
        return self.filter(state="parked", event__not_original__startswith=NOT_FETCHED, event__pk__gt=after).order_by(
            "event__pk"
        )

    def in_order(self, quarantine: Quarantine | int) -> Self:
        """Everything a quarantine ever had, in its order."""
        return self.filter(quarantine=quarantine).order_by("position")

    def not_understood(self) -> Self:
        """What no dialect knows and what could not be read, newest first."""
        return self.filter(kind__in=["unattributed", "broken"]).order_by("-id")


class EventState(models.Model):
    """Narrow and mutable: where one parked event stands."""

    class State(models.TextChoices):
        PARKED = "parked"
        APPLIED = "applied"
        SKIPPED = "skipped"

    class Kind(models.TextChoices):
        POISON = "poison"
        HELD = "held"
        UNATTRIBUTED = "unattributed", "unattributed"  # in no dialect we know: kept, shown, in no quarantine
        BROKEN = "broken", "broken"  # said to be ours and could not be read: kept raw with the reason

    id = models.BigAutoField(primary_key=True)
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="events", db_index=False, db_constraint=False)
    event_digest = models.BinaryField(
        max_length=32, help_text="SHA-256 of the event id; of the parking coordinates where it is not known to be one"
    )
    stored_at = models.DateTimeField(help_text="partition of the immutable row and the payload")
    quarantine = models.ForeignKey(
        Quarantine,
        null=True,
        on_delete=models.PROTECT,
        related_name="events",
        db_index=False,
        db_constraint=False,
    )
    position = models.BigIntegerField(null=True, help_text="place in the quarantine: what the ledger assigned")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PARKED)
    error_group = models.ForeignKey(
        ErrorGroup,
        null=True,
        on_delete=models.PROTECT,
        related_name="events",
        db_index=False,
        db_constraint=False,
    )
    attempt_count = models.PositiveIntegerField(default=0)
    fate_token = models.BigIntegerField(null=True, help_text="token of the fact that settled it; 0 = live")
    fate_fingerprint = models.BinaryField(max_length=32, null=True)
    settled_at = models.DateTimeField(null=True)
    scrubbed_at = models.DateTimeField(null=True, help_text="payload, messages and amended copies are gone since then")

    objects = EventStateQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["flow", "event_digest"], name="event_once_per_flow"),
            models.UniqueConstraint(
                fields=["quarantine", "position"],
                name="event_position_unique",
                deferrable=models.Deferrable.IMMEDIATE,  # looked at after the statement: a renumbering is one UPDATE
            ),
            models.CheckConstraint(
                condition=models.Q(state="parked", settled_at__isnull=True)
                | models.Q(state__in=["applied", "skipped"], settled_at__isnull=False),
                name="event_settled_has_time",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["unattributed", "broken"])
                | models.Q(quarantine__isnull=False, position__isnull=False),
                name="event_of_a_key_has_quarantine",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["poison", "held", "unattributed", "broken"]), name="event_kind_known"
            ),
        ]
        indexes = [
            models.Index(fields=["quarantine", "position"], condition=models.Q(state="parked"), name="event_unsettled"),
            models.Index(
                fields=["flow", "settled_at"],
                condition=models.Q(settled_at__isnull=False, scrubbed_at__isnull=True),
                name="event_to_scrub",
            ),
            models.Index(fields=["error_group", "-id"], name="event_by_error"),
            models.Index(
                fields=["flow", "-id"],
                condition=models.Q(kind__in=["unattributed", "broken"]),
                name="event_not_understood",
            ),
        ]
        triggers = [UNSETTLED_STAYS]


class ParkedEvent(models.Model):
    """Immutable: what arrived. Same id as its `EventState`."""

    event_state = models.OneToOneField(
        EventState,
        primary_key=True,
        db_column="id",
        db_constraint=False,
        on_delete=models.PROTECT,
        related_name="event",
    )
    stored_at = models.DateTimeField()
    cluster = models.ForeignKey(
        Cluster, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    dialect = models.CharField(max_length=40)
    event_id = models.TextField(help_text="at most 1 KiB; longer ones are sha256:<hex>")
    event_id_bytes = models.BinaryField(null=True, help_text="its exact UTF-8 where text cannot hold it (a NUL)")
    event_type = models.TextField(blank=True, help_text="for people: header event-type, ce_type or similar")
    parking_topic = models.CharField(max_length=249)
    parking_partition = models.IntegerField()
    parking_offset = models.BigIntegerField()
    parked_at = models.DateTimeField(help_text="the parking record's own timestamp")
    source_topic = models.TextField(blank=True)
    source_partition = models.IntegerField(null=True)
    source_offset = models.BigIntegerField(null=True)
    source_at = models.DateTimeField(null=True)
    consumer_group = models.TextField(blank=True)
    fingerprint = models.BinaryField(
        max_length=32,
        help_text="of the original record (DESIGN section 5); empty where its bytes are still to be fetched",
    )
    error_type = models.TextField(blank=True)
    error_message = models.TextField(blank=True)
    blocked_by = models.TextField(blank=True)
    unreadable_reason = models.TextField(blank=True, help_text="why it could not be read, or what was lost in reading")
    not_original = models.TextField(
        blank=True,
        db_default="",
        help_text="why what a replay would send is not, or may not be, what the consumer had been given",
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["event_state"],
                condition=models.Q(not_original__startswith=NOT_FETCHED),
                name="event_to_be_fetched",
            )
        ]
        triggers = [UNSETTLED_STAYS]

    @property
    def to_be_fetched(self) -> bool:
        """Whether its key and value are still only in the source topic (`parking.fetch`)."""
        return self.not_original.startswith(NOT_FETCHED)

    @property
    def exact_event_id(self) -> str:
        """The event id as the consumer knows it; what goes on the wire."""
        return self.event_id if self.event_id_bytes is None else bytes(self.event_id_bytes).decode("utf-8")


class EventPayload(models.Model):
    """The exact bytes, as a replay sends them. Scrubbing is a DELETE of this row."""

    event_state = models.OneToOneField(
        EventState,
        primary_key=True,
        db_column="id",
        db_constraint=False,
        on_delete=models.PROTECT,
        related_name="payload",
    )
    stored_at = models.DateTimeField()
    key = models.BinaryField(null=True)
    value = models.BinaryField(null=True)
    headers = models.BinaryField(help_text="ordered, repeats and nulls kept: parking.headers.pack")
    raw_headers = models.BinaryField(help_text="all headers of the parking record, the block included")
    wrapped = models.BinaryField(
        null=True,
        help_text="key and value as they arrived (parking.fields.pack), where key and value were unwrapped from them",
    )

    class Meta:
        triggers = [UNSETTLED_STAYS]


class ParkedRecord(models.Model):
    """Coordinates of every record intake has read: nothing is stored twice (guarantee 2)."""

    pk = models.CompositePrimaryKey("topic_id", "partition", "offset")
    topic = models.ForeignKey(TopicIncarnation, on_delete=models.PROTECT, db_index=False, db_constraint=False)
    partition = models.IntegerField()
    offset = models.BigIntegerField()
    content = models.BinaryField(
        max_length=32, help_text="digest: the same coordinates with other bytes are not the same"
    )
    event_state = models.ForeignKey(
        EventState, null=True, on_delete=models.PROTECT, related_name="records", db_constraint=False
    )
