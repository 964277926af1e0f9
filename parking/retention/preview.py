"""What retention would do next in one flow, and what it keeps and why."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from parking.models import DroppedDay, EventState, Flow, IndexedDay, KeptDay
from parking.retention import due

COUNTED = 100_000
"""Nothing is counted beyond this."""
AHEAD = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class DayAhead:
    """A day of parked events: how many of this flow. `due_at` is None while something of the day waits."""

    day: date
    events: int
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Preview:
    """Counts are exact up to 100 000, and no more is counted.

    Payloads: those of `due` events are scrubbed within the next turns of watch, those of `soon` more within a week, the
    first of them at `next_at`. Never purged: `kept_by_key` events that are settled for long enough, but something of
    their key is not; `waiting_keys`, whose oldest event waits since `oldest_waiting`, longer than payloads of settled
    ones are kept; `not_understood` events of that age, which no dialect knows. Somebody should look at those.
    Days: the next that would be dropped whole, soonest first.
    """

    due: int
    soon: int
    next_at: datetime | None
    kept_by_key: int
    waiting_keys: int
    oldest_waiting: datetime | None
    not_understood: int
    days: list[DayAhead]


def preview(flow: Flow, *, days: int = 7) -> Preview:
    """For the flow's page: what would be purged next."""
    now = timezone.now()
    ripe, later = due.to_scrub(flow, now), due.to_scrub(flow, now + AHEAD).filter(settled_at__gte=due.cutoff(flow, now))
    next_settled = later.values_list("settled_at", flat=True).first()
    waiting = due.waiting_keys(flow, now)
    return Preview(
        due=_count(ripe),
        soon=_count(later),
        next_at=next_settled and next_settled + timedelta(flow.payload_days),
        kept_by_key=_count(due.kept_by_key(flow, now)),
        waiting_keys=_count(waiting),
        oldest_waiting=waiting.values_list("oldest_at", flat=True).first(),
        not_understood=_count(due.not_understood(flow, now)),
        days=_days(flow)[:days],
    )


def gone(event: EventState) -> DroppedDay | None:
    """The day of this event, if it was dropped: there is no ParkedEvent any more, only what a replay refers to."""
    return DroppedDay.objects.filter(day=event.stored_at.astimezone(UTC).date()).first()


def _days(flow: Flow) -> list[DayAhead]:
    """Of other flows it only tells that something of the day waits or when all of it is due."""
    kept = dict(KeptDay.objects.values_list("day", "due_at"))
    events = IndexedDay.objects.filter(flow=flow, day__in=kept).values_list("day", "events")
    ahead = [DayAhead(day, count, kept[day]) for day, count in events]
    return sorted(ahead, key=lambda one: (one.due_at is None, one.due_at or datetime.max.replace(tzinfo=UTC), one.day))


def _count(rows: QuerySet[Any]) -> int:
    return rows[:COUNTED].count()
