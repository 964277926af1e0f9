"""Where incidents are sent, and each sending. A delivery is written with what it tells of, and sent later."""

import uuid
from collections.abc import Collection
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from parking.models.flow import Flow, Team
from parking.models.incident import Incident


class HookQuerySet(models.QuerySet["Hook"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows, and of the teams that own them: what a viewer may see."""
        teams = Flow.objects.filter(pk__in=flow_ids).values("team_id")
        return self.filter(Q(flow_id__in=flow_ids) | Q(flow__isnull=True, team_id__in=teams))

    def hearing(self, incident: Incident) -> Self:
        """Enabled hooks of the incident's team that listen to its flow; all of them where it concerns all flows."""
        ours = self.filter(team=incident.team_id, enabled=True).order_by("id")
        return ours.filter(Q(flow__isnull=True) | Q(flow=incident.flow_id)) if incident.flow_id else ours


class Hook(models.Model):
    """Never deleted, because its deliveries tell where pages went: disabled. A disabled one still gets the resolution
    of what it was told."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook"
        EMAIL = "email", "e-mail"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="hooks", db_index=False)
    flow = models.ForeignKey(
        Flow, null=True, on_delete=models.PROTECT, related_name="hooks", help_text="null: all flows of the team"
    )
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    address = models.TextField(help_text="URL, or e-mail address")
    fallback = models.BooleanField(default=False, help_text="only told when another hook of the team fails")
    enabled = models.BooleanField(default=True)
    secret_version = models.PositiveIntegerField(default=1, help_text="one more makes a new signing secret")
    created_at = models.DateTimeField()

    objects = HookQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="hook_name_once")]

    def __str__(self) -> str:
        return self.name


def new_webhook_id() -> str:
    return f"msg_{uuid.uuid4().hex}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def open(self) -> Self:
        """Not sent yet, or being sent."""
        return self.filter(state__in=["pending", "sending"])

    def due(self) -> Self:
        """What may be sent now: nobody is at it, and nothing older of the same incident still waits for this hook."""
        waiting = Q(state="pending", due_at__lte=Now()) | Q(state="sending", lease_until__lte=Now())
        older = Delivery.objects.open().filter(
            incident=models.OuterRef("incident"), hook=models.OuterRef("hook"), pk__lt=models.OuterRef("pk")
        )
        return self.filter(waiting).exclude(models.Exists(older)).order_by("due_at", "id")

    def failed(self) -> Self:
        """Given up, latest first."""
        return self.filter(state="failed").order_by("-id")

    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those whose hook a viewer may see."""
        return self.filter(hook__in=Hook.objects.visible(flow_ids))


class Delivery(models.Model):
    """One sending of one transition to one hook. It keeps its `webhook_id` however often it is tried."""

    class Transition(models.TextChoices):
        OPENED = "opened"
        ACKNOWLEDGED = "acknowledged"
        RESOLVED = "resolved"
        TEST = "test"

    class State(models.TextChoices):
        PENDING = "pending"
        SENDING = "sending"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook_id = models.CharField(max_length=40, unique=True, default=new_webhook_id)
    incident = models.ForeignKey(
        Incident, null=True, on_delete=models.PROTECT, related_name="deliveries", help_text="null: a test"
    )
    hook = models.ForeignKey(Hook, on_delete=models.PROTECT, related_name="deliveries")
    transition = models.CharField(max_length=12, choices=Transition.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    give_up_at = models.DateTimeField()
    queued_at = models.DateTimeField(null=True, help_text="when the notifier was told of this try")
    lease_until = models.DateTimeField(null=True, help_text="until then one process alone sends it")
    tries = models.PositiveIntegerField(default=0, help_text="rises with each claim: the compare-and-swap")
    answers = models.JSONField(default=list, help_text="the last tries: [{at, by, status, answer}]")
    delivered_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "hook", "transition"], name="delivery_once"),
            models.CheckConstraint(
                condition=Q(transition="test", incident__isnull=True)
                | Q(transition__in=["opened", "acknowledged", "resolved"], incident__isnull=False),
                name="delivery_of_incident_or_test",
            ),
            models.CheckConstraint(
                condition=~Q(state="sending") | Q(lease_until__isnull=False), name="delivery_sending_has_lease"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state__in=["pending", "sending"]), name="delivery_open"),
        ]

    @property
    def answer(self) -> str:
        """What came of the last try, for people."""
        return str(self.answers[-1]["answer"]) if self.answers else ""
