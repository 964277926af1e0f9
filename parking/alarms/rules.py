"""The rules that every flow and team begins with, and their change."""

from dataclasses import asdict, fields

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.alarms.resolving import end
from parking.alarms.transition import Thresholds
from parking.errors import Refused
from parking.models import AlarmRule, Flow, Incident, Severity
from parking.reason import required

MEASURE = AlarmRule.Measure
# measure: threshold, for, resolve at, resolve for (seconds)
BEGINNING = {
    MEASURE.DEPTH: (100, 0, 80, 300),
    MEASURE.AGE: (900, 0, 600, 60),
    MEASURE.STALE: (120, 0, 30, 30),
}
LARGEST = 2**31 - 1
THRESHOLDS = tuple(field.name for field in fields(Thresholds))


def thresholds(rule: AlarmRule) -> Thresholds:
    """Those that the rule has."""
    return Thresholds(*(getattr(rule, name) for name in THRESHOLDS))


def ensure_rules(*, flow: Flow, actor: Actor) -> list[AlarmRule]:
    """The rules of a flow and of its team: those of a new flow are made, the others are left as they are."""
    flow_rules = AlarmRule.objects.filter(flow=flow, measure__in=[MEASURE.DEPTH, MEASURE.AGE])
    with transaction.atomic():
        flow_rules.exclude(team=flow.team_id).update(team=flow.team_id)  # the flow has another owner now
        _ensure(flow, MEASURE.DEPTH, MEASURE.AGE)
        _ensure(flow, MEASURE.STALE)
    return list(AlarmRule.objects.of_flow(flow))


def _ensure(flow: Flow, *measures: AlarmRule.Measure) -> None:
    for measure in measures:
        owner = {"team_id": flow.team_id, "flow": None if measure == MEASURE.STALE else flow}
        if not AlarmRule.objects.filter(measure=measure, **owner).exists():
            threshold, lasts, resolve_at, resolve_lasts = BEGINNING[measure]
            rule = AlarmRule(
                measure=measure,
                threshold=threshold,
                for_seconds=lasts,
                resolve_at=resolve_at,
                resolve_for_seconds=resolve_lasts,
                created_at=timezone.now(),
                **owner,
            )
            AlarmRule.objects.bulk_create([rule], ignore_conflicts=True)


def change_rule(
    *,
    rule_id: int,
    threshold: int,
    for_seconds: int,
    resolve_at: int,
    resolve_for_seconds: int,
    severity: str,
    enabled: bool,
    actor: Actor,
    reason: str,
) -> AlarmRule:
    """The rule with other thresholds (events, or seconds). A rule that is switched off resolves what it had open.

    Raises Refused without a reason or where the thresholds make no sense.
    """
    reason = required(reason, "why it should ring at other times")
    wanted = Thresholds(threshold, for_seconds, resolve_at, resolve_for_seconds)
    check(wanted, severity)
    with transaction.atomic():
        rule = AlarmRule.objects.select_for_update(of=("self",)).select_related("flow").get(pk=rule_id)
        after = {**asdict(wanted), "severity": severity, "enabled": enabled}
        before = {name: getattr(rule, name) for name in after}
        _refuse_a_second(rule, severity)
        AlarmRule.objects.filter(pk=rule_id).update(**after, breached_since=None, cleared_since=None)
        rule.refresh_from_db()
        if not enabled:
            _end_what_is_open(rule)
        changed = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        detail = {"rule": rule.pk, "measure": rule.measure, "changed": changed}
        journal.write(actor=actor, verb="change alarm rule", flow=rule.flow, reason=reason, detail=detail)
    return rule


def check(thresholds: Thresholds, severity: str) -> None:
    """Raises Refused where a rule with these thresholds makes no sense."""
    for name, value in asdict(thresholds).items():
        if not 0 <= value <= LARGEST:
            raise Refused(f"{name.replace('_', ' ')}: a number from 0 to {LARGEST} was expected; {value} arrived.")
    if thresholds.resolve_at >= thresholds.threshold:
        raise Refused("It is over below the threshold: resolve at must be a smaller number than the threshold.")
    if severity not in Severity.values:
        raise Refused(f"severity: {' or '.join(Severity.values)} was expected.")


def _refuse_a_second(rule: AlarmRule, severity: str) -> None:
    others = AlarmRule.objects.filter(team=rule.team_id, flow=rule.flow_id, measure=rule.measure, severity=severity)
    if others.exclude(pk=rule.pk).exists():
        raise Refused(f"There is a {severity} rule for the {rule.measure} already: change that one.")


def _end_what_is_open(rule: AlarmRule) -> None:
    incident = Incident.objects.unresolved().select_for_update(of=("self",)).filter(alarm=rule.alarm).first()
    if incident is not None:
        end(incident, resolution="its alarm rule was switched off")
