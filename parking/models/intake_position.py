"""How far intake has read, per incarnation of a topic, and what it counted on the way."""

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Exists, OuterRef

from parking import topic_pattern
from parking.models.flow import Cluster, Flow


class TopicIncarnationQuerySet(models.QuerySet["TopicIncarnation"]):
    def newest_of(self, flow: Flow) -> "list[TopicIncarnation]":
        """The newest life of each topic that is read for the flow, as far as intake has seen it; by name."""
        lives = self.filter(cluster_id=flow.cluster_id).order_by("name", "pk")
        newest = {life.name: life for life in lives}
        return [life for name, life in newest.items() if any(topic_pattern.fits(one, name) for one in flow.read_topics)]


class TopicIncarnation(models.Model):
    """A topic as one life of it: deleted and created again, the same name has another topic id (KIP-516)."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=249)
    topic_id = models.CharField(max_length=64, blank=True, help_text="empty where the broker does not tell")
    generation = models.PositiveIntegerField(
        default=0, help_text="rises when the broker lost its tail or replaced it: offsets came a second time"
    )
    first_seen = models.DateTimeField(auto_now_add=True)
    retention_ms = models.BigIntegerField(null=True, blank=True, help_text="-1 for unlimited, empty where not told")
    retention_bytes = models.BigIntegerField(null=True, blank=True, help_text="per partition; as above")

    objects = TopicIncarnationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "name", "topic_id", "generation"], name="topic_incarnation_once"
            ),
        ]


class IntakePositionQuerySet(models.QuerySet["IntakePosition"]):
    def of_now(self) -> Self:
        """Those of the newest life of each topic: of earlier ones nothing can be read any more."""
        later = TopicIncarnation.objects.filter(
            cluster=OuterRef("topic__cluster"), name=OuterRef("topic__name"), pk__gt=OuterRef("topic_id")
        )
        return self.filter(~Exists(later))


class IntakePosition(models.Model):
    """Next offset to read; moved by compare-and-swap in the transaction that stores the rows (guarantee 1).

    What the log was like at the last look is beside it, for people: nothing is decided by it.
    """

    topic = models.ForeignKey(TopicIncarnation, on_delete=models.PROTECT, related_name="positions", db_index=False)
    partition = models.IntegerField()
    next_offset = models.BigIntegerField()
    moved_at = models.DateTimeField()
    log_start = models.BigIntegerField(null=True, blank=True, help_text="first offset that Kafka still had then")
    log_end = models.BigIntegerField(null=True, blank=True, help_text="where the next readable record would have gone")
    looked_at = models.DateTimeField(null=True, blank=True)
    read_until = models.DateTimeField(
        null=True, blank=True, help_text="what was in the log at this time is stored: nothing unread is older"
    )

    objects = IntakePositionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "partition"], name="intake_position_once")]

    @property
    def lag(self) -> int | None:
        """How many offsets were ahead at the last look; None where nobody has looked yet."""
        if self.log_end is None:
            return None
        return max(0, self.log_end - max(self.next_offset, self.log_start or 0))

    @property
    def loss_from(self) -> datetime | None:
        """When Kafka may begin to delete what is unread, by the topic's retention time; None where it does not."""
        kept = self.topic.retention_ms
        if kept is None or kept < 0 or self.read_until is None:
            return None
        try:
            return self.read_until + timedelta(milliseconds=kept)
        except OverflowError:  # kept for longer than there are dates
            return None


class Rollup(models.Model):
    """Events parked per flow and minute."""

    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="rollups", db_index=False)
    minute = models.DateTimeField()
    poison = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    other = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "minute"], name="rollup_once")]
