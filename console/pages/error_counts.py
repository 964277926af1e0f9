"""Numbers of error groups, exact, from what intake counts by group and day: no look at an event."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from console.show.bars import Bars, bars
from parking.models import ErrorGroupDay

DAYS = 14
LATELY = timedelta(hours=6)

_BY_TROUBLE = """
WITH stopped AS (
    SELECT k.error_group_id AS id, count(*) AS keys
    FROM parking_quarantine q JOIN parking_errorgroupkey k ON k.quarantine_id = q.id
    WHERE q.flow_id = ANY(%(flows)s) AND q.state <> 'released' GROUP BY 1
), sorted AS (
    SELECT g.id, coalesce(s.keys, 0) AS keys, g.last_seen, coalesce(t.owner_id, '') AS owner,
        CASE WHEN t.status IS NULL OR g.last_seen > t.opens_after THEN 'open' ELSE t.status END AS status,
        s.keys IS NOT NULL AND g.last_seen > greatest(%(lately)s, t.opens_after) AS growing
    FROM parking_errorgroup g LEFT JOIN stopped s ON s.id = g.id LEFT JOIN parking_triage t ON t.error_group_id = g.id
    WHERE g.flow_id = ANY(%(flows)s)
)
SELECT id, keys, last_seen, growing FROM sorted
WHERE (%(first)s OR (growing, keys, last_seen, id) < (%(growing)s, %(keys)s, %(last_seen)s, %(id)s))
    AND %(status)s IN ('', status) AND (%(owner)s::text IS NULL OR owner = %(owner)s)
ORDER BY growing DESC, keys DESC, last_seen DESC, id DESC LIMIT %(most)s
"""


class Place(NamedTuple):
    """Where a group stands: those that stop keys and came lately (and since they were to be quiet) first, then by the
    keys that they stop."""

    growing: bool
    keys: int
    last_seen: str
    id: int


def by_trouble(
    flow_ids: Collection[int], after: Place | None, most: int, *, status: str = "", owner: str | None = None
) -> list[Place]:
    """The groups of these flows behind `after`, the gravest first. One query over what is stopped, not over events.

    `status` and `owner` (an actor's id, empty for nobody's) leave out the others; `""` and None leave out nothing.
    """
    begin = after or Place(False, 0, "-infinity", 0)
    lately, first = timezone.now() - LATELY, after is None
    given = {**begin._asdict(), "flows": list(flow_ids), "lately": lately, "first": first, "most": most}
    given |= {"status": status, "owner": owner}
    with connection.cursor() as cursor:
        cursor.execute(_BY_TROUBLE, given)
        return [
            Place(growing, keys, last_seen.astimezone(UTC).isoformat(), pk)
            for pk, keys, last_seen, growing in cursor.fetchall()
        ]


@dataclass(frozen=True, slots=True)
class Counted:
    """`keys` that the error ever stopped."""

    days: Bars
    keys: int = 0


def counted(groups: Sequence[int], *, wide: bool = False) -> Mapping[int, Counted]:
    """By group id; days are those of UTC. Two queries for all of them."""
    first = timezone.now().astimezone(UTC).date() - timedelta(days=DAYS - 1)
    rows = ErrorGroupDay.objects.filter(error_group__in=groups)
    by_day: dict[int, dict[date, int]] = defaultdict(dict)
    for group, day, events in rows.filter(day__gte=first).values_list("error_group", "day", "events"):
        by_day[group][day] = events
    keys = dict(rows.order_by().values_list("error_group").annotate(Sum("keys")))
    return {group: Counted(_histogram(by_day[group], first, wide=wide), keys.get(group, 0)) for group in groups}


def _histogram(by_day: Mapping[date, int], first: date, *, wide: bool) -> Bars:
    days = [first + timedelta(days=at) for at in range(DAYS)]
    size = {"height": 72, "width": 26} if wide else {"height": 20, "width": 6}
    titles = [f"{day.day} {day:%b}" for day in days]
    return bars([by_day.get(day, 0) for day in days], titles, what=f"in {DAYS} days", unit="day", **size)
