"""Entries of the index: what the store holds of some events, made into words and written beside it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import structlog
from django.db import connection

from parking import headers
from parking.malformed import Malformed
from parking.models import Attempt, Flow
from parking.record import Headers
from parking.search import document
from parking.search.document import Source
from parking.search.grammar import LONGEST_PREFIX
from parking.search.tokens import hashes

log = structlog.get_logger("index")

AT_ONCE = 200
"""Events whose payloads are in memory, the first 256 KiB of each."""

SQL_STORED = f"""
SELECT e.id, e.stored_at, e.flow_id, e.scrubbed_at IS NOT NULL AS scrubbed, p.event_id, p.event_type, p.error_type,
    p.error_message, p.source_topic, p.source_partition, p.source_offset, p.parking_topic, p.parking_partition,
    p.parking_offset, k.key AS hold_key, l.key AS record_key, l.headers,
    substring(l.value FROM 1 FOR {document.LARGEST_JSON + 1}) AS value
FROM unnest(%s::bigint[]) AS wanted (id)
JOIN parking_eventstate e USING (id)
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at
LEFT JOIN parking_eventpayload l ON l.id = e.id AND l.stored_at = e.stored_at
LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id
LEFT JOIN parking_holdkey k ON k.id = q.hold_key_id
"""  # noqa: S608 - a number of ours
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
SQL_COPY = "COPY parking_eventsearch (id, stored_at, flow_id, event_id, key, open_words, words, cut) FROM STDIN"
SQL_TIDY = """
SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'event_search_words'::regclass
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


def tidy() -> None:
    """Sort in what the indexes have only noted down: every search would have to read it. PostgreSQL does so by itself
    only when there is more of it.
    """
    with connection.cursor() as cursor:
        cursor.execute(SQL_TIDY)


def _copy(sources: Sequence[tuple[Stored, Source]], counts: Counts) -> None:
    """The database takes the rows in while the next ones are made."""
    with connection.cursor() as cursor, cursor.copy(SQL_COPY) as copying:
        for stored, source in sources:
            words = _words(stored.id, source)
            copying.write_row(_row(stored, words))
            counts.add(stored.flow, stored.stored_at, 1, cut=words.cut, scrubbed=stored.scrubbed)


def _words(event: int, source: Source) -> document.Words:
    """Words are derived: where they cannot be made, the event is indexed all the same, and the next ones with it."""
    try:
        return document.read(source)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one event's
        log.warning("the words of an event could not be read", id=event, reason=type(error).__name__)
        return document.least(source)


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
    tries = _tries(ids)
    with connection.cursor() as cursor:
        cursor.execute(SQL_STORED, [list(ids)])
        stored = map(Stored._make, cursor.fetchall())
        return [(row, _source(row, tries.get(row.id, []), paths.get(row.flow, []))) for row in stored]


def _tries(ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    columns = ("event_state_id", "error_type", "message", "validation_errors")
    for attempt in Attempt.objects.filter(event_state__in=ids).order_by("event_state_id", "id").values(*columns):
        found[attempt["event_state_id"]].append(attempt)
    return found


def _source(row: Stored, tries: Sequence[dict[str, Any]], paths: object) -> Source:
    open_only = Source(
        event_id=row.event_id,
        key=row.hold_key,
        places=list(_places(row)),
        event_type=row.event_type,
        error_types=_unique(row.error_type, tries, "error_type"),
    )
    if row.scrubbed:
        return open_only
    return Source(
        open_only.event_id,
        open_only.key,
        open_only.places,
        open_only.event_type,
        open_only.error_types,
        messages=_unique(row.error_message, tries, "message"),
        validation_errors=[error for tried in tries for error in tried["validation_errors"]],
        record_key=row.record_key,
        headers=_headers(row.headers),
        value=row.value,
        paths=paths,
    )


def _places(row: Stored) -> Iterator[str]:
    if row.source_topic and row.source_offset is not None:
        yield f"{row.source_topic}/{row.source_partition}/{row.source_offset}"
    yield f"{row.parking_topic}/{row.parking_partition}/{row.parking_offset}"


def _unique(first: str, tries: Sequence[dict[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(text for text in (first, *(tried[name] for tried in tries)) if text))


def _headers(packed: bytes | None) -> Headers:
    try:
        return headers.unpack(packed or b"")
    except Malformed:
        return ()


def _row(stored: Stored, words: document.Words) -> tuple[Any, ...]:
    key = (stored.hold_key or b"")[:LONGEST_PREFIX]
    arrays = (_array(stored.flow, words.open), _array(stored.flow, words.all))
    return (stored.id, stored.stored_at, stored.flow, stored.event_id, key, *arrays, words.cut)


def _array(flow: int, words: Iterable[str]) -> str:
    """As PostgreSQL writes it: much faster than an adapted list."""
    return "{" + ",".join(map(hashes(flow).__getitem__, words)) + "}"
