"""How deep and how old a flow was, minute by minute, computed backwards from what is stored: no history is kept for it.

Depth goes back from what waits now, by what was parked (rollups) and what was settled in each minute. The oldest event
of a minute is the first stored of all that were settled later, or wait still.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import F, Sum

from parking.models import Flow, Quarantine, Rollup

DAYS = 7
MOST = 100_000
"""As many settled events are looked at, the latest: before them nothing is said."""
MINUTE = timedelta(minutes=1)
_SETTLED = """
SELECT date_trunc('minute', settled_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS minute, count(*), min(stored_at)
FROM (
    SELECT settled_at, stored_at FROM parking_eventstate
    WHERE flow_id = %s AND settled_at >= %s AND scrubbed_at IS NULL ORDER BY settled_at DESC LIMIT %s
) AS latest GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Past:
    """Values at the end of each minute, oldest first: events, and seconds. `whole` where they reach back 7 days."""

    since: datetime
    whole: bool
    depth: list[tuple[datetime, int]]
    age: list[tuple[datetime, int]]


def past(flow: Flow, now: datetime) -> Past:
    """Three queries, bounded by minutes and `MOST`. As far back as payloads are kept, at most 7 days."""
    this_minute = now.replace(second=0, microsecond=0)
    days = min(DAYS, flow.payload_days)
    since = this_minute - timedelta(days=days)
    settled = _settled(flow, since)
    if sum(count for count, _ in settled.values()) == MOST:
        since, days = min(settled) + MINUTE, 0
    waiting = Quarantine.objects.filter(flow=flow).unreleased()
    depth = waiting.aggregate(all=Sum(F("poison") + F("held")))["all"] or 0
    oldest = waiting.filter(oldest_at__isnull=False).order_by("oldest_at").values_list("oldest_at", flat=True).first()
    parked = _parked(flow, since)
    depths, ages = _back(this_minute, since, depth=depth, oldest=oldest or now, settled=settled, parked=parked)
    return Past(since, days == DAYS, depths, ages)


def _settled(flow: Flow, since: datetime) -> Mapping[datetime, tuple[int, datetime]]:
    """By minute: how many were settled, and when the first of them had been stored."""
    with connection.cursor() as cursor:
        cursor.execute(_SETTLED, [flow.pk, since, MOST])
        return {minute: (count, first) for minute, count, first in cursor.fetchall()}


def _parked(flow: Flow, since: datetime) -> Mapping[datetime, int]:
    rows = Rollup.objects.filter(flow=flow, minute__gte=since)
    return {minute: poison + held for minute, poison, held in rows.values_list("minute", "poison", "held")}


def _back(
    begin: datetime,
    since: datetime,
    *,
    depth: int,
    oldest: datetime,
    settled: Mapping[datetime, tuple[int, datetime]],
    parked: Mapping[datetime, int],
) -> tuple[list[tuple[datetime, int]], list[tuple[datetime, int]]]:
    """Depth and age of each minute from `begin` back to `since`; `depth` and `oldest` are those of now."""
    depths, ages, minute = [], [], begin
    while minute >= since:
        end = minute + MINUTE
        depths.append((minute, depth))
        ages.append((minute, max(0, int((end - oldest).total_seconds()))))
        count, first = settled.get(minute, (0, oldest))
        depth, oldest = max(0, depth + count - parked.get(minute, 0)), min(oldest, first)
        minute -= MINUTE
    return depths[::-1], ages[::-1]
