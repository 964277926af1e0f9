"""One event of a replay."""

from django.db import models

from parking.models import Amendment, EventState
from replay.models.replay import Replay


class Step(models.Model):
    class State(models.TextChoices):
        PENDING = "pending"
        IN_FLIGHT = "in_flight"
        APPLIED = "applied"
        DUPLICATE = "duplicate"
        SKIPPED = "skipped"
        CONFLICT = "conflict"
        FAILED = "failed"
        FENCED = "fenced"
        UNCONFIRMED = "unconfirmed"

    replay = models.ForeignKey(Replay, on_delete=models.PROTECT, related_name="steps")
    ordinal = models.PositiveIntegerField()
    event_state = models.ForeignKey(EventState, on_delete=models.PROTECT, related_name="steps")
    position = models.BigIntegerField()
    action = models.CharField(max_length=5, choices=[("apply", "apply"), ("amend", "amend"), ("skip", "skip")])
    amendment = models.ForeignKey(Amendment, null=True, on_delete=models.PROTECT, related_name="+")
    skip_reason = models.TextField(blank=True)
    fingerprint = models.BinaryField(max_length=32, help_text="of what is sent; of the source record for skip")
    state = models.CharField(max_length=11, choices=State.choices, default=State.PENDING)
    followed = models.BooleanField(default=False, help_text="held while the replay ran, followed as the plan says")
    sent_at = models.DateTimeField(null=True)
    sends = models.PositiveSmallIntegerField(default=0)
    outcome_id = models.BigIntegerField(null=True, help_text="parking Outcome that gave the state")
    reason = models.TextField(blank=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["replay", "ordinal"], name="step_ordinal_once"),
            models.UniqueConstraint(fields=["replay", "event_state"], name="step_event_once"),
        ]
