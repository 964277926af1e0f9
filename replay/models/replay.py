"""One replay: a frozen plan, its approval, and how far it got."""

from django.db import models

from parking.models import Flow, Quarantine

TERMINAL = ("completed", "rejected", "expired", "cancelled", "stopped")


class Replay(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft"
        REQUESTED = "requested"
        APPROVED = "approved"
        RUNNING = "running"
        PAUSED = "paused"
        RELEASING = "releasing"
        CANCELLING = "cancelling"
        COMPLETED = "completed"
        REJECTED = "rejected"
        EXPIRED = "expired"
        CANCELLED = "cancelled"
        STOPPED = "stopped"

    class Follow(models.TextChoices):
        FOLLOW = "follow", "newly held events follow"
        STOP = "stop", "stop when more is held"

    quarantine = models.ForeignKey(Quarantine, on_delete=models.PROTECT, related_name="replays")
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="replays")
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    digest = models.BinaryField(max_length=32, help_text="of the plan (replay.plan)")
    follow = models.CharField(max_length=6, choices=Follow.choices, default=Follow.FOLLOW)
    follow_cap = models.PositiveIntegerField()
    followed = models.PositiveIntegerField(default=0)
    pace_per_second = models.PositiveIntegerField()
    window = models.PositiveIntegerField()
    token = models.BigIntegerField(null=True, help_text="assigned when it starts")
    partitions = models.PositiveIntegerField(null=True, help_text="of the replay topic, frozen at the start")

    requested_by_id = models.CharField(max_length=100)
    requested_by_name = models.CharField(max_length=150)
    requested_at = models.DateTimeField(null=True)
    reason = models.TextField()
    expires_at = models.DateTimeField()
    decided_by_id = models.CharField(max_length=100, blank=True)
    decided_by_name = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    memory_confirmed = models.BooleanField(default=False)

    lease_owner = models.CharField(max_length=200, blank=True)
    lease_epoch = models.BigIntegerField(default=0, help_text="rises with every taking: a lost lease cannot write")
    lease_until = models.DateTimeField(null=True)
    outcome_cursor = models.BigIntegerField(default=0, help_text="last Outcome id that was settled into steps")
    release_sent_at = models.DateTimeField(null=True)
    release_sends = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["quarantine"], condition=~models.Q(state__in=TERMINAL), name="replay_one_living"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["draft", "requested", "rejected", "expired", "cancelled"])
                | (~models.Q(decided_by_id="") & ~models.Q(decided_by_id=models.F("requested_by_id"))),
                name="replay_approved_by_another",
            ),
        ]
        indexes = [models.Index(fields=["flow", "state", "-id"], name="replay_by_state")]
