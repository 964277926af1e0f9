"""The segments of the index: pieces of a day's entries by their event's id, so that words are sorted in all at once.

PostgreSQL takes a word of an event into its index of words (GIN) in about a microsecond, and each event has many;
building that index over rows that are there costs a third. So new entries go to a segment without one, where a search
reads row by row, and when the ids have left a segment behind, its indexes are built. That has time until a burst is
over: it was half of what PostgreSQL does for the index. `MOST_OPEN` bounds how much a search reads row by row.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import NamedTuple

from django.db import connection

SPAN = 16_384
"""Ids of one segment: half a second to build, and some milliseconds to read. Each costs a search a moment, too."""
MOST_OPEN = 6
"""Segments that may be full and wait for their indexes."""

SQL_MISSING = "SELECT name FROM unnest(%s::text[]) AS wanted (name) WHERE to_regclass(name) IS NULL"
SQL_UNSORTED = r"""
SELECT relname, substring(relname FROM '\d+$')::bigint FROM pg_class
WHERE relname LIKE 'parking\_eventsearch\_%%' AND relkind = 'r' AND pg_table_is_visible(oid)
  AND substring(relname FROM '^parking_eventsearch_\d{8}_(\d+)$')::bigint < %s
  AND to_regclass(relname || '_words') IS NULL
ORDER BY 2, 1
"""
# Words that come later (a late attempt) go in at once: what is only noted down, every search would have to read.
# With little memory PostgreSQL sorts words in portions that stay in the processor's cache: a third less time.
SQL_SORT = """
SET LOCAL max_parallel_maintenance_workers = 0;
SET LOCAL maintenance_work_mem = '4MB';
CREATE INDEX {segment}_words ON {segment} USING gin (words) WITH (fastupdate = off);
CREATE INDEX {segment}_ids ON {segment} (flow_id, event_id text_pattern_ops);
CREATE INDEX {segment}_keys ON {segment} (flow_id, key);
ANALYZE {segment} (id, stored_at, flow_id, event_id, key)
"""
# What words there are is nothing that the planner could use (`find`), and dear to find out.
SQL_MAKE = """
CREATE TABLE {segment} (LIKE {day} INCLUDING ALL);
ALTER TABLE {segment} ALTER words SET STATISTICS 0;
ALTER TABLE {day} ATTACH PARTITION {segment} FOR VALUES FROM ({first}) TO ({end})
"""


class Stretch(NamedTuple):
    """Events of one segment: their number, the bounds of their ids, and of the times at which they were stored."""

    day: date
    segment: int
    events: int
    first: int
    last: int
    since: datetime
    until: datetime


def place(event: int, at: datetime) -> tuple[date, int]:
    """The day and the segment of an event."""
    return at.astimezone(UTC).date(), event // SPAN


def make(places: Iterable[tuple[date, int]]) -> None:
    """These segments, where they are missing, in the index's transaction."""
    wanted = {_name(day, number): number for day, number in places}
    with connection.cursor() as cursor:
        cursor.execute(SQL_MISSING, [list(wanted)])
        for (segment,) in cursor.fetchall():
            first, day = wanted[segment] * SPAN, segment.rpartition("_")[0]
            cursor.execute(SQL_MAKE.format(segment=segment, day=day, first=first, end=first + SPAN))


def sort(at: int) -> int:
    """Builds the indexes of the first segment that has none and is full when the index is at the id `at`, in the
    index's transaction. The first id behind which there may be more of them.
    """
    with connection.cursor() as cursor:
        cursor.execute(SQL_UNSORTED, [at // SPAN])
        unsorted = cursor.fetchall()
        for segment, _ in unsorted[:1]:
            cursor.execute(SQL_SORT.format(segment=segment))
    return unsorted[1][1] * SPAN if len(unsorted) > 1 else full_up_to(at)


def full_up_to(at: int) -> int:
    """The first id of the segment that is being filled while the index is at the id `at`; those before it are full."""
    return at // SPAN * SPAN


def _name(day: date, number: int) -> str:
    return f"parking_eventsearch_{day:%Y%m%d}_{number}"
