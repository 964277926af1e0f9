"""One replay: a frozen plan, its approval, and how far it got."""

from typing import Self

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models

from parking.models import Flow, Quarantine
from replay import states


class ReplayQuerySet(models.QuerySet["Replay"]):
    def living(self) -> Self:
        """Those that have not ended."""
        return self.exclude(state__in=states.TERMINAL)

    def waiting(self) -> Self:
        """Those that wait for another person's approval."""
        return self.filter(state=Replay.State.REQUESTED)

    def moving(self) -> Self:
        """Those from approval to the end."""
        return self.filter(state__in=states.FROZEN)

    def ended(self) -> Self:
        return self.filter(state__in=states.TERMINAL)

    def with_progress(self) -> Self:
        """Annotated with the number of steps that are `done`, `in_flight`, `to_go`, and their `total`."""
        return self.annotate(
            total=models.Count("steps"),
            done=models.Count("steps", filter=models.Q(steps__state__in=states.DONE)),
            in_flight=models.Count("steps", filter=models.Q(steps__state="in_flight")),
            to_go=models.Count("steps", filter=models.Q(steps__state="pending")),
        )


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
    repair = models.BooleanField(
        default=False, help_text="sends hold records, no marker: the consumer's ledger was restored or lost"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    digest = models.BinaryField(max_length=32, help_text="of the plan (replay.plan)")
    follow = models.CharField(max_length=6, choices=Follow.choices, default=Follow.FOLLOW)
    follow_cap = models.PositiveIntegerField()
    followed = models.PositiveIntegerField(default=0)
    pace_per_second = models.PositiveIntegerField()
    window = models.PositiveIntegerField()
    token = models.BigIntegerField(null=True, help_text="assigned when it starts")
    partitions = models.PositiveIntegerField(null=True, help_text="of the replay topic, frozen at the start")
    largest = models.BigIntegerField(null=True, help_text="max.message.bytes of the replay topic at the start")

    requested_by_id = models.CharField(max_length=100)
    requested_by_name = models.CharField(max_length=150)
    requested_at = models.DateTimeField(null=True)
    reason = models.TextField()
    authors = ArrayField(
        models.CharField(max_length=100), default=list, help_text="who wrote its decisions and amendments"
    )
    expires_at = models.DateTimeField()
    decided_by_id = models.CharField(max_length=100, blank=True)
    decided_by_name = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    memory_confirmed = models.BooleanField(default=False)

    lease_owner = models.CharField(max_length=200, blank=True)
    lease_epoch = models.BigIntegerField(default=0, help_text="rises with every taking: a lost lease cannot write")
    lease_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True, help_text="when a worker should look next; messages before it are dropped")
    waiting_for = models.TextField(blank=True, help_text="what keeps it from going on, for people; empty if nothing")
    outcomes_from = models.BigIntegerField(default=0, help_text="last Outcome id before it started: not about us")
    outcome_cursor = models.BigIntegerField(default=0, help_text="last Outcome id before the marker was sent")
    release_sent_at = models.DateTimeField(null=True)
    release_acked_at = models.DateTimeField(null=True, help_text="the broker has the marker")
    release_sends = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop_reason = models.TextField(blank=True)
    stopped_at_step = models.PositiveIntegerField(null=True, help_text="ordinal of the step that stopped it")

    objects = ReplayQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["quarantine"], condition=~models.Q(state__in=states.TERMINAL), name="replay_one_living"
            ),
            models.CheckConstraint(condition=models.Q(state__in=list(states.REPLAY)), name="replay_state_known"),
            models.CheckConstraint(
                condition=models.Q(state__in=states.UNAPPROVED)
                | (~models.Q(decided_by_id="") & ~models.Q(decided_by_id=models.F("requested_by_id"))),
                name="replay_approved_by_another",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=states.UNAPPROVED)
                | ~models.Q(authors__contains=[models.F("decided_by_id")]),
                name="replay_approved_by_no_author",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=[*states.UNAPPROVED, "approved"])
                | models.Q(token__isnull=False, partitions__isnull=False, started_at__isnull=False),
                name="replay_started_has_token",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=states.TERMINAL, finished_at__isnull=False)
                | (~models.Q(state__in=states.TERMINAL) & models.Q(finished_at__isnull=True)),
                name="replay_finished_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["flow", "state", "-id"], name="replay_by_state"),
            models.Index(fields=["due_at"], condition=models.Q(state__in=states.DRIVEN), name="replay_due"),
        ]
        triggers = [pgtrigger.FSM(name="moves", field="state", transitions=states.transitions(states.REPLAY))]

    def __str__(self) -> str:
        return f"replay {self.pk}"

    @property
    def living(self) -> bool:
        return self.state not in states.TERMINAL
