"""What the rules measure, read from counters that intake keeps: a bounded walk of an index, never a count of events."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Max

from parking.models import AlarmRule, Beat, EventState, Quarantine

# Intake that has been silent for longer may have missed anything: what it last wrote cannot resolve an alarm.
FRESH = timedelta(seconds=60)
# As many quarantines, deepest first, are added up; a threshold beyond it is still decided rightly.
WALKED = 10_000


@dataclass(frozen=True, slots=True)
class Reading:
    """`value` in the rule's unit; only a fresh one may resolve."""

    value: int
    fresh: bool


def read(rule: AlarmRule, now: datetime, beat: datetime | None) -> Reading:
    """What the rule measures, as it is now; `beat` is `last_beat()`."""
    if rule.measure == AlarmRule.Measure.STALE:
        since = beat or rule.created_at
        return Reading(max(0, int((now - since).total_seconds())), fresh=True)
    measured = _depth(rule) if rule.measure == AlarmRule.Measure.DEPTH else _age(rule, now)
    return Reading(measured, fresh=beat is not None and now - beat <= FRESH)


def about(rule: AlarmRule) -> dict[str, Any]:
    """Facts that go with the opening: the oldest key of the flow, and the three times of its head, kept apart."""
    if rule.flow_id is None:
        last = last_beat()
        return {"last_beat_at": last.isoformat() if last else "never"}
    oldest = _oldest(rule)
    return {"source_topic": rule.flow.source_topic if rule.flow else "", **(_head(oldest) if oldest else {})}


def last_beat() -> datetime | None:
    """The latest sign of life of any intake."""
    last: datetime | None = Beat.objects.filter(process="intake").aggregate(last=Max("at"))["last"]
    return last


def _depth(rule: AlarmRule) -> int:
    walk = Quarantine.objects.filter(flow=rule.flow_id).unreleased().by_trouble()
    most = max(WALKED, rule.threshold)
    return sum(walk.annotate(waiting=F("poison") + F("held")).values_list("waiting", flat=True)[:most])


def _oldest(rule: AlarmRule) -> Quarantine | None:
    waiting = Quarantine.objects.filter(flow=rule.flow_id, oldest_at__isnull=False).unreleased()
    return waiting.order_by("oldest_at").first()


def _age(rule: AlarmRule, now: datetime) -> int:
    oldest = _oldest(rule)
    if oldest is None or oldest.oldest_at is None:
        return 0
    since = oldest.oldest_at
    if since > now:  # the parking record's time is foreign; ours is when it was stored
        head = EventState.objects.unsettled(oldest).first()
        since = head.stored_at if head else now
    return max(0, int((now - since).total_seconds()))


def _head(oldest: Quarantine) -> dict[str, Any]:
    head = EventState.objects.unsettled(oldest).select_related("event").first()
    times = {} if head is None else {
        "occurred_at": head.event.source_at,
        "parked_at": head.event.parked_at,
        "stored_at": head.event.stored_at,
    }  # fmt: skip
    known = {name: at.isoformat() for name, at in times.items() if at is not None}
    return {"oldest_key": oldest.pk, "error_type": oldest.first_error.partition(": ")[0][:200], **known}
