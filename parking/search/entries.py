"""Entries of the index: what the store holds of some events, made into words and written beside it."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import chain

import structlog
from django.db import connection

from parking import shared_topics
from parking.models import Flow
from parking.search import common, document, rows, segments, stored
from parking.search.document import Source
from parking.search.grammar import LONGEST_PREFIX
from parking.search.kinds import Common, Kinds
from parking.search.segments import Stretch
from parking.search.stored import Events, Stored

log = structlog.get_logger("index")

KINDS = Kinds()

Used = tuple[date, int, Common]

SQL_SCRUB = """
UPDATE parking_eventsearch s SET words = s.words[1:s.open], cut = FALSE
FROM (
    SELECT old.id, old.stored_at, old.cut
    FROM unnest(%s::bigint[], %s::timestamptz[]) AS given (id, stored_at)
    JOIN parking_eventsearch old ON old.id = given.id AND old.stored_at = given.stored_at
) AS old
WHERE s.id = old.id AND s.stored_at = old.stored_at
RETURNING s.flow_id, s.stored_at, old.cut
"""
SQL_SCRUB_AGAIN = """
UPDATE parking_eventstate SET scrubbed_at = NULL WHERE id = ANY(%s) AND scrubbed_at IS NOT NULL
RETURNING flow_id, stored_at
"""
SQL_FORGET = "DELETE FROM parking_eventsearch WHERE id = ANY(%s) RETURNING flow_id, stored_at, cut"
SQL_COPY = """
COPY parking_eventsearch (id, stored_at, flow_id, event_id, key, words, open, cut) FROM STDIN (FORMAT BINARY)
"""
SQL_COUNT = """
INSERT INTO parking_indexedday AS d (flow_id, day, events, cut, scrubbed)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT (flow_id, day) DO UPDATE
SET events = d.events + excluded.events, cut = d.cut + excluded.cut, scrubbed = d.scrubbed + excluded.scrubbed
"""


class Counts:
    """Changes of `IndexedDay`: (flow, day) → events, cut, scrubbed."""

    def __init__(self) -> None:
        self._by_day: dict[tuple[int, date], list[int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, flow: int, day: date, events: int, *, cut: int = 0, scrubbed: int = 0) -> None:
        counts = self._by_day[flow, day]
        counts[0] += events
        counts[1] += cut
        counts[2] += scrubbed

    def store(self) -> None:
        """In the order of the keys, inside the caller's transaction."""
        rows = sorted((flow, day, *counts) for (flow, day), counts in self._by_day.items() if any(counts))
        if rows:
            with connection.cursor() as cursor:
                cursor.execute(SQL_COUNT, [list(column) for column in zip(*rows, strict=True)])


def write(*, new: Sequence[Stretch], again: Events) -> None:
    """Entries for these events, `again` in the place of their old ones, inside the caller's transaction."""
    if not new and not again:
        return
    counts, used = Counts(), set[Used]()
    _forget([number for number, _ in again], counts)
    segments.make([(one.day, one.segment) for one in new] + [segments.place(*event) for event in again])
    paths = {flow: document.allowed(named) for flow, named in Flow.objects.values_list("pk", "search_paths")}
    nobodys = {topic for topics in shared_topics.closed(()).values() for topic in topics}
    for read in chain(stored.these(again, paths), *[stored.walk(stretch, paths) for stretch in new]):
        _copy([_entry(*one, nobodys, counts, used) for one in read])
    common.keep(used)
    counts.store()


def _copy(entries: Sequence[bytes]) -> None:
    with connection.cursor() as cursor, cursor.copy(SQL_COPY) as copying:
        copying.write(b"".join((rows.BEGIN, *entries, rows.END)))


def _entry(event: Stored, source: Source, nobodys: Collection[str], counts: Counts, used: set[Used]) -> bytes:
    """A record in no key on a topic of several flows (`nobodys`) is found by its place only: a count that includes what
    is not shown would tell of each word whether it is in there (`shared_topics`).
    """
    if event.quarantine is None and event.parking_topic in nobodys:
        words = document.least(source, event.flow)
    else:
        words = _words(event, source)
    day = _day(event.stored_at)
    counts.add(event.flow, day, 1, cut=words.cut, scrubbed=event.scrubbed)
    if words.common:
        used.add((day, event.flow, words.common))
    return _row(event, source, words)


def _words(event: Stored, source: Source) -> document.Words:
    """Words are derived: where they cannot be made, the event is indexed all the same, and the next ones with it."""
    try:
        return document.read(source, event.flow, KINDS.of(event.flow, event.event_type))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one event's
        log.warning("the words of an event could not be read", id=event.id, reason=type(error).__name__)
        return document.least(source, event.flow)


def scrub(ids: Sequence[int], stored_at: Sequence[datetime]) -> None:
    """Leaves only the open words of these events, inside the caller's transaction, which holds `position.locked`."""
    counts = Counts()
    with connection.cursor() as cursor:
        cursor.execute(SQL_SCRUB, [list(ids), list(stored_at)])
        for flow, at, cut in cursor.fetchall():
            counts.add(flow, at.astimezone(UTC).date(), 0, cut=-int(cut), scrubbed=1)
    counts.store()


def _forget(ids: Sequence[int], counts: Counts) -> None:
    """An attempt that came after scrubbing brought a message: its event is due to be scrubbed again."""
    if not ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(SQL_SCRUB_AGAIN, [list(ids)])
        for flow, stored_at in cursor.fetchall():
            counts.add(flow, stored_at.astimezone(UTC).date(), 0, scrubbed=-1)
        cursor.execute(SQL_FORGET, [list(ids)])
        for flow, stored_at, cut in cursor.fetchall():
            counts.add(flow, stored_at.astimezone(UTC).date(), -1, cut=-int(cut))


def _row(event: Stored, source: Source, words: document.Words) -> bytes:
    key = (source.key or b"")[:LONGEST_PREFIX]
    return rows.entry(
        event.id, event.stored_at, event.flow, event.event_id.encode(), key,
        words=words.all, opened=words.open, cut=words.cut,
    )  # fmt: skip


@lru_cache
def _day(stored_at: bytes) -> date:
    """The day (UTC) of a time as PostgreSQL sends it: microseconds since 2000."""
    return (
        datetime(2000, 1, 1, tzinfo=UTC) + timedelta(microseconds=int.from_bytes(stored_at, "big", signed=True))
    ).date()
