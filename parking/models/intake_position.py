"""How far intake has read, per incarnation of a topic, and what it counted on the way."""

from django.db import models

from parking.models.flow import Cluster, Flow


class TopicIncarnation(models.Model):
    """A topic as one life of it: deleted and created again, the same name has another topic id (KIP-516)."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=249)
    topic_id = models.CharField(max_length=64, blank=True, help_text="empty where the broker does not tell")
    generation = models.PositiveIntegerField(
        default=0, help_text="rises when the broker lost its tail or replaced it: offsets came a second time"
    )
    first_seen = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "name", "topic_id", "generation"], name="topic_incarnation_once"
            ),
        ]


class IntakePositionQuerySet(models.QuerySet["IntakePosition"]):
    def read_to(self, cluster: Cluster, topic: str) -> dict[int, int]:
        """Partition → next offset to read, in the newest life of a topic."""
        lives = TopicIncarnation.objects.filter(cluster=cluster, name=topic).order_by("-pk")
        return dict(self.filter(topic_id=lives.values("pk")[:1]).values_list("partition", "next_offset"))


class IntakePosition(models.Model):
    """Next offset to read; moved by compare-and-swap in the transaction that stores the rows (guarantee 1)."""

    topic = models.ForeignKey(TopicIncarnation, on_delete=models.PROTECT, related_name="positions", db_index=False)
    partition = models.IntegerField()
    next_offset = models.BigIntegerField()
    moved_at = models.DateTimeField()

    objects = IntakePositionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "partition"], name="intake_position_once")]


class Rollup(models.Model):
    """Events parked per flow and minute."""

    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="rollups", db_index=False)
    minute = models.DateTimeField()
    poison = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    other = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "minute"], name="rollup_once")]
