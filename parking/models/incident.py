"""One firing alarm, from first breach to resolution, and the silences that keep it from ringing."""

from collections.abc import Collection
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from parking.models.alarm import AlarmRule, Severity
from parking.models.flow import Flow, Team


class IncidentQuerySet(models.QuerySet["Incident"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows, and of the teams that own them: what a viewer may see."""
        teams = Flow.objects.filter(pk__in=flow_ids).values("team_id")
        return self.filter(Q(flow_id__in=flow_ids) | Q(flow__isnull=True, team_id__in=teams))

    def unresolved(self) -> Self:
        """Firing and acknowledged."""
        return self.exclude(state="resolved")

    def by_trouble(self) -> Self:
        """What is firing first, then what somebody is on, critical before warning, the longest first."""
        return self.unresolved().order_by("-state", "severity", "opened_at", "id")

    def resolved(self, after: str = "") -> Self:
        """Latest first. `after` is the id of the last one on the page before; what is no id gives the first page."""
        ordered = self.filter(state="resolved").order_by("-id")
        return ordered.filter(id__lt=int(after)) if after.isdecimal() and len(after) < 19 else ordered

    def unannounced(self) -> Self:
        """Unresolved, nobody was told, and no silence lasts."""
        silenced = Silence.objects.filter(alarm=models.OuterRef("alarm"), until__gt=Now())
        return self.unresolved().filter(announced_at__isnull=True).exclude(models.Exists(silenced))


class Incident(models.Model):
    """`alarm` is what fires, `sequence` counts its incidents: together they are the deduplication key."""

    class State(models.TextChoices):
        FIRING = "firing"
        ACKNOWLEDGED = "acknowledged"
        RESOLVED = "resolved"

    alarm = models.CharField(max_length=300)
    sequence = models.PositiveIntegerField()
    rule = models.ForeignKey(AlarmRule, null=True, on_delete=models.PROTECT, related_name="incidents", db_index=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="incidents", db_index=False)
    flow = models.ForeignKey(Flow, null=True, on_delete=models.PROTECT, related_name="incidents", db_index=False)
    kind = models.CharField(max_length=40, help_text="depth, age, stale; gap, restored-ledger, refused-signature, …")
    key = models.TextField(blank=True, help_text="what of the flow it is about, where that is not the flow itself")
    severity = models.CharField(max_length=10, choices=Severity.choices)
    state = models.CharField(max_length=12, choices=State.choices, default=State.FIRING)
    summary = models.TextField(help_text="one line for people; never anything of a payload")
    detail = models.JSONField(default=dict, help_text="{name: text or number}; never anything of a payload")
    runbook = models.TextField(blank=True)
    breached_at = models.DateTimeField()
    opened_at = models.DateTimeField()
    announced_at = models.DateTimeField(null=True, help_text="when hooks were told; null while silenced")
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by_id = models.CharField(max_length=100, blank=True)
    acknowledged_by_name = models.CharField(max_length=150, blank=True)
    acknowledged_reason = models.TextField(blank=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by_name = models.CharField(max_length=150, blank=True)
    resolution = models.TextField(blank=True, help_text="why it is over")

    objects = IncidentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["alarm", "sequence"], name="incident_once"),
            models.UniqueConstraint(fields=["alarm"], condition=~Q(state="resolved"), name="incident_one_unresolved"),
            models.CheckConstraint(
                condition=Q(state="resolved", resolved_at__isnull=False)
                | Q(state__in=["firing", "acknowledged"], resolved_at__isnull=True),
                name="incident_resolved_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="acknowledged") | Q(acknowledged_at__isnull=False),
                name="incident_acknowledged_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["flow", "-id"], name="incident_by_flow"),
            models.Index(fields=["team", "-id"], name="incident_by_team"),
        ]

    @property
    def dedup_key(self) -> str:
        """The same in every notification of this incident, and of no other."""
        return f"{self.alarm}#{self.sequence}"

    @property
    def resolves_itself(self) -> bool:
        """Whether a rule watches it; if not, a person resolves it."""
        return self.rule_id is not None


class Silence(models.Model):
    """Until when nobody is told of an alarm that opens. What was announced is resolved aloud all the same."""

    alarm = models.CharField(max_length=300, unique=True)
    until = models.DateTimeField()
    reason = models.TextField()
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=150)
    at = models.DateTimeField()
