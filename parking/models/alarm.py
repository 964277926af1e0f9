"""When the owner of a flow is told: a rule, its thresholds, and since when it has been breached or clear."""

from collections.abc import Collection
from typing import Self

from django.db import models
from django.db.models import Q

from parking.models.flow import Flow, Team


class Severity(models.TextChoices):
    CRITICAL = "critical", "critical: wakes somebody"
    WARNING = "warning", "warning: can wait for the morning"


class AlarmRuleQuerySet(models.QuerySet["AlarmRule"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows, and of the teams that own them: what a viewer may see."""
        teams = Flow.objects.filter(pk__in=flow_ids).values("team_id")
        return self.filter(Q(flow_id__in=flow_ids) | Q(flow__isnull=True, team_id__in=teams))

    def of_flow(self, flow: Flow) -> Self:
        """What may ring for one flow: its own rules and its team's."""
        return self.filter(Q(flow=flow) | Q(flow__isnull=True, team=flow.team_id)).order_by("measure", "severity")


class AlarmRule(models.Model):
    """Fires when what it measures is at `threshold` or above for `for_seconds`, and is resolved when it has been at
    `resolve_at` or below for `resolve_for_seconds`. In between nothing changes: a value that swings does not ring."""

    class Measure(models.TextChoices):
        DEPTH = "depth", "unsettled events, poison and held"
        AGE = "age", "seconds since the oldest unsettled event was parked"
        STALE = "stale", "seconds since intake last gave a sign of life"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="alarm_rules", db_index=False)
    flow = models.ForeignKey(Flow, null=True, on_delete=models.PROTECT, related_name="alarm_rules", db_index=False)
    measure = models.CharField(max_length=10, choices=Measure.choices)
    severity = models.CharField(max_length=10, choices=Severity.choices, default=Severity.CRITICAL)
    threshold = models.PositiveBigIntegerField()
    for_seconds = models.PositiveIntegerField(default=0)
    resolve_at = models.PositiveBigIntegerField()
    resolve_for_seconds = models.PositiveIntegerField(default=300)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    breached_since = models.DateTimeField(null=True)
    cleared_since = models.DateTimeField(null=True)

    objects = AlarmRuleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "flow", "measure", "severity"], nulls_distinct=False, name="alarm_rule_once"
            ),
            models.CheckConstraint(condition=Q(resolve_at__lt=models.F("threshold")), name="alarm_rule_hysteresis"),
            models.CheckConstraint(
                condition=Q(measure="stale", flow__isnull=True) | Q(measure__in=["depth", "age"], flow__isnull=False),
                name="alarm_rule_of_flow_or_team",
            ),
        ]

    @property
    def alarm(self) -> str:
        """What fires when this rule does; all its incidents bear this name."""
        return f"rule/{self.pk}"
