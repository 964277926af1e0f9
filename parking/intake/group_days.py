"""Counts error groups: events per group and day (UTC), and which keys each group stopped."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from parking.ask import array, ask
from parking.intake.touched import Event, Touched

SQL_KEYS = """
WITH fresh AS (
    INSERT INTO parking_errorgroupkey (error_group_id, quarantine_id)
    SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS stopped (error_group_id, quarantine_id) ORDER BY 1, 2
    ON CONFLICT DO NOTHING RETURNING error_group_id
)
SELECT error_group_id, count(*) FROM fresh GROUP BY 1
"""
SQL_DAYS = """
INSERT INTO parking_errorgroupday AS d (error_group_id, day, events, keys)
SELECT error_group_id, %s::date, events, keys
FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS counted (error_group_id, events, keys) ORDER BY 1
ON CONFLICT (error_group_id, day) DO UPDATE SET events = d.events + excluded.events, keys = d.keys + excluded.keys
"""


def count(touched: Touched, now: datetime) -> None:
    """In the caller's transaction. An event counts once in each group that it ever was in, on the day it came to it."""
    events, keys = Counter(touched.joined), dict[int, int]()
    if pairs := _pairs(touched.events.values()):
        keys = dict(ask(SQL_KEYS, *(array("int8", column) for column in zip(*pairs, strict=True))))
    if groups := sorted({*events, *keys}):
        numbers = (array("int4", (counted.get(group, 0) for group in groups)) for counted in (events, keys))
        ask(SQL_DAYS, now.astimezone(UTC).date(), array("int8", groups), *numbers)


def _pairs(events: Iterable[Event]) -> set[tuple[int, int]]:
    """(group, quarantine) of what is new or has changed: it may have got another one of either."""
    return {
        (event.group, event.stop.id)
        for event in events
        if event.group is not None and (event.row is not None or event.changed) and event.stop is not None
    }
