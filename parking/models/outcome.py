"""Every outcome that a consumer published, as it arrived. Facts settle events at once; replay reads them by id."""

from django.db import models

from parking.models.flow import Flow
from parking.models.intake_position import TopicIncarnation


class Outcome(models.Model):
    id = models.BigAutoField(primary_key=True)
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="outcomes", db_index=False)
    topic = models.ForeignKey(TopicIncarnation, on_delete=models.PROTECT, related_name="+", db_index=False)
    partition = models.IntegerField()
    offset = models.BigIntegerField()
    hold_key_digest = models.BinaryField(max_length=32)
    event_digest = models.BinaryField(max_length=32, null=True, help_text="null on released and still-held")
    outcome = models.CharField(max_length=20)
    token = models.BigIntegerField(null=True)
    replay_id = models.TextField(blank=True, help_text="as the consumer wrote it; ours are decimal")
    fate_token = models.BigIntegerField(null=True)
    fingerprint = models.BinaryField(max_length=32, null=True)
    position = models.BigIntegerField(null=True, help_text="released_position on released")
    attempts = models.JSONField(default=list)
    evidence = models.JSONField(null=True)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "partition", "offset"], name="outcome_once")]
        indexes = [
            models.Index(fields=["flow", "hold_key_digest", "id"], name="outcome_by_key"),
            models.Index(fields=["flow", "event_digest", "id"], name="outcome_by_event"),
        ]
