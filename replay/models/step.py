"""One event of a replay."""

import pgtrigger
from django.db import models

from parking.models import Amendment, EventState
from replay import states
from replay.models.replay import Replay


class Step(models.Model):
    class State(models.TextChoices):
        PENDING = "pending"
        IN_FLIGHT = "in_flight", "in flight"
        APPLIED = "applied"
        DUPLICATE = "duplicate"
        SKIPPED = "skipped"
        HELD = "held"
        CONFLICT = "conflict"
        FAILED = "failed"
        FENCED = "fenced"
        UNCONFIRMED = "unconfirmed"

    class Action(models.TextChoices):
        APPLY = "apply"
        AMEND = "amend"
        SKIP = "skip"
        HOLD = "hold"

    replay = models.ForeignKey(Replay, on_delete=models.PROTECT, related_name="steps")
    ordinal = models.PositiveIntegerField(help_text="1, 2, … in the order of the ledger")
    event_state = models.ForeignKey(EventState, on_delete=models.PROTECT, related_name="steps")
    position = models.BigIntegerField()
    action = models.CharField(max_length=5, choices=Action.choices)
    amendment = models.ForeignKey(Amendment, null=True, on_delete=models.PROTECT, related_name="+")
    skip_reason = models.TextField(blank=True)
    fingerprint = models.BinaryField(max_length=32, help_text="of what is sent; of the source record for skip")
    state = models.CharField(max_length=11, choices=State.choices, default=State.PENDING)
    followed = models.BooleanField(default=False, help_text="held while the replay ran, followed as the plan says")
    sent_at = models.DateTimeField(null=True)
    sends = models.PositiveIntegerField(default=0)
    acked_at = models.DateTimeField(null=True, help_text="the broker has it; null in flight = not known to be sent")
    sent_partition = models.IntegerField(null=True, help_text="plain target: where the broker put it")
    sent_offset = models.BigIntegerField(null=True)
    evidence = models.JSONField(null=True, help_text="plain target: what its state is inferred from (replay.sight)")
    outcome_id = models.BigIntegerField(null=True, help_text="parking Outcome that gave the state")
    reason = models.TextField(blank=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["replay", "ordinal"], name="step_ordinal_once"),
            models.UniqueConstraint(fields=["replay", "event_state"], name="step_event_once"),
            models.CheckConstraint(condition=models.Q(state__in=list(states.STEP)), name="step_state_known"),
            models.CheckConstraint(
                condition=models.Q(state="pending", sends=0)
                | (~models.Q(state="pending") & models.Q(sends__gt=0, sent_at__isnull=False)),
                name="step_recorded_before_sent",
            ),
            models.CheckConstraint(
                condition=models.Q(action="amend", amendment__isnull=False)
                | (~models.Q(action="amend") & models.Q(amendment__isnull=True)),
                name="step_amend_has_amendment",
            ),
        ]
        indexes = [
            models.Index(fields=["replay", "state", "ordinal"], name="step_by_state"),
            models.Index(fields=["replay"], condition=models.Q(state="unconfirmed"), name="step_unconfirmed"),
        ]
        triggers = [pgtrigger.FSM(name="moves", field="state", transitions=states.transitions(states.STEP))]

    def __str__(self) -> str:
        return f"step {self.ordinal} of replay {self.replay_id}"
