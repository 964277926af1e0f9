"""Look at every rule. Any number of processes may do so at once: each looks first, and again under the rule's lock
before it changes anything, so that one breach opens one incident."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from parking.alarms import announce, opening, readings, resolving, wording
from parking.alarms.readings import Reading
from parking.alarms.rules import thresholds
from parking.alarms.transition import Standing, Transition, step
from parking.models import AlarmRule, Incident


def evaluate() -> int:
    """Open and resolve what is due, and tell what a silence kept back; how many incidents moved. Sends nothing."""
    rules = AlarmRule.objects.filter(enabled=True).select_related("flow", "team").order_by("pk")
    firing = set(Incident.objects.unresolved().values_list("alarm", flat=True))
    now, beat = timezone.now(), readings.last_beat()
    moved = sum(_move(rule.pk) for rule in rules if _would_move(rule, rule.alarm in firing, now, beat))
    return moved + announce.announce_due()


def _would_move(rule: AlarmRule, firing: bool, now: datetime, beat: datetime | None) -> bool:
    """Whether this reading changes anything: a hint, and in the quiet the only thing that is done."""
    before, after, transition, _ = _look(rule, firing, now, beat)
    return transition is not None or before != after


def _move(rule_id: int) -> bool:
    """Lock, then look: the rule, its incident and the value as they are now. True if an incident moved."""
    with transaction.atomic():
        rules = AlarmRule.objects.select_for_update(of=("self",)).select_related("flow", "team")
        rule = rules.filter(pk=rule_id, enabled=True).first()
        if rule is None:
            return False
        incident = Incident.objects.unresolved().select_for_update(of=("self",)).filter(alarm=rule.alarm).first()
        now = timezone.now()
        _, after, transition, reading = _look(rule, incident is not None, now, readings.last_beat())
        AlarmRule.objects.filter(pk=rule_id).update(
            breached_since=after.breached_since, cleared_since=after.cleared_since
        )
        if transition is Transition.OPEN:
            opening.by_rule(rule, reading, breached_at=after.breached_since or now, now=now)
        if transition is Transition.RESOLVE and incident is not None:
            resolving.end(incident, resolution=wording.resolved(rule, reading.value))
    return transition is not None


def _look(
    rule: AlarmRule, firing: bool, now: datetime, beat: datetime | None
) -> tuple[Standing, Standing, Transition | None, Reading]:
    """Standing before and after, what happens, and the reading that it came from."""
    before = Standing(firing, rule.breached_since, rule.cleared_since)
    reading = readings.read(rule, now, beat)
    after, transition = step(thresholds(rule), before, reading.value, fresh=reading.fresh, now=now)
    return before, after, transition, reading
