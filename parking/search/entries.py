"""Entries of the index: what the store holds of some events, made into words and written beside it."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

import psycopg
import structlog
from django.db import connection

from parking import dialects, headers
from parking.malformed import Malformed
from parking.models import Flow
from parking.record import Headers
from parking.search import document, rows, segments
from parking.search.document import Making, Source
from parking.search.grammar import LONGEST_PREFIX
from parking.search.tokens import hashes, numbers

log = structlog.get_logger("index")

AT_ONCE = 200
"""Events whose payloads are in memory, the first 256 KiB of each."""
AT_A_TIME = 50
"""Rows that are handed over together."""

SQL_STORED = f"""
SELECT e.id, e.stored_at, e.flow_id, e.scrubbed_at IS NOT NULL AS scrubbed, p.dialect, p.event_id, p.event_type,
    p.error_type, p.error_message, p.source_topic, p.source_partition, p.source_offset, p.parking_topic,
    p.parking_partition, p.parking_offset, k.key AS hold_key, l.key AS record_key, l.headers,
    substring(l.value FROM 1 FOR {document.LARGEST_JSON + 1}) AS value
FROM unnest(%s::bigint[]) AS wanted (id)
JOIN parking_eventstate e USING (id)
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at
LEFT JOIN parking_eventpayload l ON l.id = e.id AND l.stored_at = e.stored_at
LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id
LEFT JOIN parking_holdkey k ON k.id = q.hold_key_id
"""  # noqa: S608 - a number of ours
SQL_TRIES = """
SELECT event_state_id, error_type, message, validation_errors FROM parking_attempt
WHERE event_state_id = ANY(%s) ORDER BY event_state_id, id
"""
SQL_SCRUB = """
UPDATE parking_eventsearch s SET words = s.open_words, cut = FALSE
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
COPY parking_eventsearch (id, stored_at, flow_id, event_id, key, open_words, words, cut) FROM STDIN (FORMAT BINARY)
"""
SQL_COUNT = """
INSERT INTO parking_indexedday AS d (flow_id, day, events, cut, scrubbed)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::bigint[], %s::bigint[], %s::bigint[])
ON CONFLICT (flow_id, day) DO UPDATE
SET events = d.events + excluded.events, cut = d.cut + excluded.cut, scrubbed = d.scrubbed + excluded.scrubbed
"""


class Stored(NamedTuple):
    """One row of SQL_STORED."""

    id: int
    stored_at: datetime
    flow: int
    scrubbed: bool
    dialect: str
    event_id: str
    event_type: str
    error_type: str
    error_message: str
    source_topic: str
    source_partition: int | None
    source_offset: int | None
    parking_topic: str
    parking_partition: int
    parking_offset: int
    hold_key: bytes | None
    record_key: bytes | None
    headers: bytes | None
    value: bytes | None


class Try(NamedTuple):
    """One row of SQL_TRIES."""

    event: int
    error_type: str
    message: str
    validation_errors: list[dict[str, Any]]


class Counts:
    """Changes of `IndexedDay`: (flow, day) → events, cut, scrubbed."""

    def __init__(self) -> None:
        self._by_day: dict[tuple[int, date], list[int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, flow: int, at: datetime, events: int, *, cut: int = 0, scrubbed: int = 0) -> None:
        counts = self._by_day[flow, at.astimezone(UTC).date()]
        for place, number in enumerate((events, cut, scrubbed)):
            counts[place] += number

    def store(self) -> None:
        """In the order of the keys, inside the caller's transaction."""
        rows = sorted((flow, day, *counts) for (flow, day), counts in self._by_day.items() if any(counts))
        if rows:
            with connection.cursor() as cursor:
                cursor.execute(SQL_COUNT, [list(column) for column in zip(*rows, strict=True)])


def write(*, new: Sequence[int], again: Sequence[int]) -> None:
    """Entries for these events, `again` in the place of their old ones, inside the caller's transaction."""
    counts = Counts()
    _forget(again, counts)
    paths = dict(Flow.objects.values_list("pk", "search_paths")) if new or again else {}
    ids = [*again, *new]
    for at in range(0, len(ids), AT_ONCE):
        _copy(_sources(ids[at : at + AT_ONCE], paths), counts)
    counts.store()


def _copy(sources: Sequence[tuple[Stored, Source]], counts: Counts) -> None:
    """The database takes the rows in while the next ones are made."""
    segments.make((stored.id, stored.stored_at) for stored, _ in sources)
    with connection.cursor() as cursor, cursor.copy(SQL_COPY) as copying:
        copying.write(rows.BEGIN)
        for at in range(0, len(sources), AT_A_TIME):
            copying.write(b"".join([_entry(*one, counts) for one in sources[at : at + AT_A_TIME]]))
        copying.write(rows.END)


def _entry(stored: Stored, source: Source, counts: Counts) -> bytes:
    words = _words(stored, source)
    counts.add(stored.flow, stored.stored_at, 1, cut=words.cut, scrubbed=stored.scrubbed)
    return _row(stored, words)


def _words(stored: Stored, source: Source) -> document.Words[bytes]:
    """Words are derived: where they cannot be made, the event is indexed all the same, and the next ones with it."""
    making = _making(stored.flow)
    try:
        return document.read(source, making)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one event's
        log.warning("the words of an event could not be read", id=stored.id, reason=type(error).__name__)
        return document.least(source, making)


@cache
def _making(flow: int) -> Making[bytes]:
    return Making(numbers(flow), hashes(flow))


def scrub(ids: Sequence[int], stored_at: Sequence[datetime]) -> None:
    """Leaves only the open words of these events, inside the caller's transaction, which holds `position.locked`."""
    counts = Counts()
    with connection.cursor() as cursor:
        cursor.execute(SQL_SCRUB, [list(ids), list(stored_at)])
        for flow, at, cut in cursor.fetchall():
            counts.add(flow, at, 0, cut=-int(cut), scrubbed=1)
    counts.store()


def _forget(ids: Sequence[int], counts: Counts) -> None:
    """An attempt that came after scrubbing brought a message: its event is due to be scrubbed again."""
    if not ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(SQL_SCRUB_AGAIN, [list(ids)])
        for flow, stored_at in cursor.fetchall():
            counts.add(flow, stored_at, 0, scrubbed=-1)
        cursor.execute(SQL_FORGET, [list(ids)])
        for flow, stored_at, cut in cursor.fetchall():
            counts.add(flow, stored_at, -1, cut=-int(cut))


def _sources(ids: Sequence[int], paths: Mapping[int, object]) -> list[tuple[Stored, Source]]:
    tries: dict[int, list[Try]] = defaultdict(list)
    for tried in map(Try._make, _binary(SQL_TRIES, ids)):
        tries[tried.event].append(tried)
    stored = map(Stored._make, _binary(SQL_STORED, ids))
    return [(row, _source(row, tries.get(row.id, ()), paths.get(row.flow, ()))) for row in stored]


def _binary(sql: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Rows in PostgreSQL's binary format, which Django's own cursors do not ask for: bytes are not written out as text
    and read again.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(sql, [list(ids)], binary=True).fetchall()


def _source(row: Stored, tries: Sequence[Try], paths: object) -> Source:
    payload = {} if row.scrubbed else _payload(row, tries)
    return Source(
        event_id=row.event_id,
        key=row.hold_key,
        places=list(_places(row)),
        event_type=row.event_type,
        error_types=_unique(row.error_type, *(tried.error_type for tried in tries)),
        **payload,
        paths=paths,
    )


def _payload(row: Stored, tries: Sequence[Try]) -> dict[str, Any]:
    return {
        "messages": _unique(row.error_message, *(tried.message for tried in tries)),
        "validation_errors": [error for tried in tries for error in tried.validation_errors],
        "record_key": row.record_key,
        "headers": _headers(row),
        "value": row.value,
    }


def _places(row: Stored) -> Iterator[str]:
    if row.source_topic and row.source_offset is not None:
        yield f"{row.source_topic}/{row.source_partition}/{row.source_offset}"
    yield f"{row.parking_topic}/{row.parking_partition}/{row.parking_offset}"


def _unique(*texts: str) -> Collection[str]:
    return dict.fromkeys(filter(None, texts))


def _headers(row: Stored) -> Headers:
    """The event's own: what a producer said of the failure is in the error type and message already."""
    try:
        found = headers.unpack(row.headers or b"")
    except Malformed:
        return ()
    return tuple(header for header in found if not _of_failure(row.dialect, header[0]))


@lru_cache(maxsize=4096)
def _of_failure(dialect: str, name: str) -> bool:
    return dialects.added(dialect, name)


def _row(stored: Stored, words: document.Words[bytes]) -> bytes:
    return rows.row(
        rows.bigint(stored.id),
        rows.timestamp(stored.stored_at),
        rows.bigint(stored.flow),
        stored.event_id.encode(),
        (stored.hold_key or b"")[:LONGEST_PREFIX],
        rows.bigints(words.open),
        rows.bigints(words.all),
        rows.boolean(words.cut),
    )
