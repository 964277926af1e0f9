"""Open an incident: at most one unresolved per alarm, numbered, and told in the same transaction."""

import hashlib
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from parking import storable
from parking.alarms import announce, readings, wording
from parking.alarms.readings import Reading
from parking.models import AlarmRule, Flow, Incident, Severity

LONGEST_KEY = 200
LONGEST_SUMMARY = 1000
TRIES = 5


def open_incident(
    *,
    kind: str,
    flow: Flow,
    key: str,
    summary: str,
    detail: dict[str, str | int] | None = None,
    severity: str = Severity.CRITICAL,
) -> Incident:
    """Tell the owner of `flow` what no number shows. A person resolves it, or `close_incident`.

    `kind` is a slug (`gap`, `refused-signature`), `key` what of the flow it is about; as long as an incident of the
    same (kind, flow, key) is unresolved, that one is returned and nothing is written. `summary` (one line) and `detail`
    leave the console by e-mail and webhook: they must hold nothing of a key, value, header or error message. Joins the
    caller's transaction; lock order: after EventState, before the journal.
    """
    now = timezone.now()
    incident = Incident(
        alarm=alarm(kind, flow, key),
        team_id=flow.team_id,
        flow=flow,
        kind=kind,
        key=storable.text(key, LONGEST_KEY),
        severity=severity,
        summary=storable.text(" ".join(summary.split()), LONGEST_SUMMARY),
        detail=storable.json(detail or {}),
        runbook=flow.runbook,
        breached_at=now,
        opened_at=now,
    )
    return _insert(incident)


def by_rule(rule: AlarmRule, reading: Reading, *, breached_at: datetime, now: datetime) -> Incident:
    """Open the incident of a rule whose row the caller has locked."""
    at_least = rule.measure == AlarmRule.Measure.DEPTH and reading.value > readings.WALKED
    incident = Incident(
        alarm=rule.alarm,
        rule=rule,
        team_id=rule.team_id,
        flow=rule.flow,
        kind=rule.measure,
        severity=rule.severity,
        summary=wording.opened(rule, reading.value, at_least=at_least),
        detail=storable.json({"value": reading.value, "threshold": rule.threshold, **readings.about(rule)}),
        runbook=rule.flow.runbook if rule.flow else "",
        breached_at=breached_at,
        opened_at=now,
    )
    return _insert(incident)


def alarm(kind: str, flow: Flow, key: str) -> str:
    """What fires: the same for the same (kind, flow, key)."""
    exact = storable.text(key)
    short = exact if len(exact) <= LONGEST_KEY else hashlib.sha256(exact.encode()).hexdigest()
    return f"{kind}/{flow.pk}/{short}"


def _insert(incident: Incident) -> Incident:
    """The unresolved incident of the alarm: the one that is there, else this one under the next number.

    Two unique constraints make a concurrent opening wait and lose, so that only one of them ever tells.
    """
    for _ in range(TRIES):
        same = Incident.objects.filter(alarm=incident.alarm)
        there = same.unresolved().first()
        if there is not None:
            return there
        incident.sequence = (same.aggregate(last=Max("sequence"))["last"] or 0) + 1
        if _inserted(incident):
            return incident
    raise RuntimeError(f"{incident.alarm}: opened and resolved by others {TRIES} times meanwhile")


def _inserted(incident: Incident) -> bool:
    try:
        with transaction.atomic():
            incident.save(force_insert=True)
            announce.opening(incident)
    except IntegrityError:
        incident.pk = None
        return False
    return True
