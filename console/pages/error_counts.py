"""Numbers of error groups, from their latest events only: bounded work, however often an error came."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import connection
from django.utils import timezone

from console.show.bars import Bars, bars

DAYS = 14
LOOKED_AT = 1_000
LOOKED_AT_ONE = 50_000

_LATEST = """
FROM unnest(%s::bigint[]) AS g (id) CROSS JOIN LATERAL (
    SELECT e.quarantine_id, e.state, e.stored_at FROM parking_eventstate e
    WHERE e.error_group_id = g.id ORDER BY e.id DESC LIMIT %s
) AS e
"""
_BY_DAY = f"""
SELECT g.id, (e.stored_at AT TIME ZONE %s)::date AS day, count(*) {_LATEST}
WHERE e.stored_at >= %s GROUP BY g.id, day
"""
_KEYS = f"""
SELECT g.id, count(DISTINCT e.quarantine_id), count(DISTINCT e.quarantine_id) FILTER (WHERE e.state = 'parked')
{_LATEST} GROUP BY g.id
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """`keys` that the error stopped, and of them those with something unsettled; both of the latest events."""

    days: Bars
    keys: int = 0
    waiting: int = 0


def counted(groups: Sequence[int], *, latest: int = LOOKED_AT, wide: bool = False) -> Mapping[int, Counted]:
    """By group id, from its `latest` events. Two queries for all of them."""
    ids, first = list(groups), timezone.localdate() - timedelta(days=DAYS - 1)
    by_day: dict[int, dict[date, int]] = defaultdict(dict)
    zone = timezone.get_current_timezone_name()
    since = timezone.now() - timedelta(days=DAYS + 1)
    with connection.cursor() as cursor:
        cursor.execute(_BY_DAY, [zone, ids, latest, since])
        for group, day, events in cursor.fetchall():
            by_day[group][day] = events
        cursor.execute(_KEYS, [ids, latest])
        keys = {group: (all_of_them, waiting) for group, all_of_them, waiting in cursor.fetchall()}
    return {group: Counted(_histogram(by_day[group], first, wide=wide), *keys.get(group, (0, 0))) for group in ids}


def _histogram(by_day: Mapping[date, int], first: date, *, wide: bool) -> Bars:
    days = [first + timedelta(days=at) for at in range(DAYS)]
    size = {"height": 72, "width": 26} if wide else {"height": 20, "width": 6}
    titles = [f"{day.day} {day:%b}" for day in days]
    return bars([by_day.get(day, 0) for day in days], titles, what=f"in {DAYS} days", unit="day", **size)
