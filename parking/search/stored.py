"""What the store holds of some events, as sources of their words."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from parking.ask import ask
from parking.search import document, own_headers
from parking.search.document import Source
from parking.search.hold_keys import HoldKeys
from parking.search.segments import Stretch

AT_ONCE = 200
"""Events whose payloads are in memory, the first 256 KiB of each."""

SHORT = 64
"""Characters of an event type by which the names of headers are remembered."""

COLUMNS = f"""
SELECT e.id, timestamptz_send(e.stored_at), e.flow_id, e.scrubbed_at IS NOT NULL, e.quarantine_id, p.dialect,
    p.event_id, p.event_type, p.error_type, p.error_message, p.source_topic, p.source_partition, p.source_offset,
    p.parking_topic, p.parking_partition, p.parking_offset, l.key, l.headers,
    substring(l.value FROM 1 FOR {document.LARGEST_JSON + 1})
"""  # noqa: S608 - a number of ours
# The bounds stand at each table, so that all are walked side by side, and the days of others are left out of the plan.
# Where there are no statistics yet, one loop inside another would look best and be worst.
SQL_WALK = f"""
DECLARE stretch NO SCROLL CURSOR FOR {COLUMNS}
FROM parking_eventstate e
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at
    AND p.id BETWEEN %s AND %s AND p.stored_at BETWEEN %s AND %s
LEFT JOIN parking_eventpayload l ON l.id = e.id AND l.stored_at = e.stored_at
    AND l.id BETWEEN %s AND %s AND l.stored_at BETWEEN %s AND %s
WHERE e.id BETWEEN %s AND %s
"""
SQL_SIDE_BY_SIDE, SQL_AS_EVER = "SET LOCAL enable_nestloop = off", "RESET enable_nestloop"
SQL_NEXT, SQL_ENOUGH = f"FETCH {AT_ONCE} FROM stretch", "CLOSE stretch"
SQL_THESE = f"""
{COLUMNS}
FROM unnest(%s::int8[]) AS wanted (id)
JOIN parking_eventstate e USING (id)
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at AND p.stored_at BETWEEN %s AND %s
LEFT JOIN parking_eventpayload l ON l.id = e.id AND l.stored_at = e.stored_at AND l.stored_at BETWEEN %s AND %s
"""
# Most events have one attempt, which says what the event does: those are not asked for.
SQL_TELL_MORE = """
SELECT DISTINCT a.event_state_id FROM parking_attempt a
JOIN parking_parkedevent p ON p.id = a.event_state_id AND p.id BETWEEN %s AND %s AND p.stored_at BETWEEN %s AND %s
WHERE a.event_state_id BETWEEN %s AND %s
    AND (a.error_type <> p.error_type OR a.message <> p.error_message OR a.validation_errors <> '[]')
"""
SQL_TRIES = """
SELECT event_state_id, error_type, message, nullif(validation_errors, '[]') FROM parking_attempt
WHERE event_state_id = ANY(%s::int8[]) ORDER BY event_state_id, id
"""


class Stored(NamedTuple):
    """One row. `stored_at` as PostgreSQL sends it."""

    id: int
    stored_at: bytes
    flow: int
    scrubbed: bool
    quarantine: int | None
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
    record_key: bytes | None
    headers: bytes | None
    value: bytes | None


Events = Sequence[tuple[int, datetime]]
"""Events by their id, with the time at which they were stored."""
Read = list[tuple[Stored, Source]]
Try = tuple[int, str, str, list[dict[str, Any]] | None]
"""One row of SQL_TRIES."""

KEYS = HoldKeys()


def walk(stretch: Stretch, paths: Mapping[int, Collection[str]]) -> Iterator[Read]:
    """The events of a stretch, some at a time, inside the caller's transaction. `paths`: flow → the search paths that
    it allows.
    """
    ids, times = (stretch.first, stretch.last), (stretch.since, stretch.until)
    ask(SQL_SIDE_BY_SIDE)
    telling = {number for (number,) in ask(SQL_TELL_MORE, *ids, *times, *ids)}
    ask(SQL_WALK, *ids, *times, *ids, *times, *ids)
    ask(SQL_AS_EVER)
    while rows := ask(SQL_NEXT):
        yield _read(list(map(Stored._make, rows)), telling, paths)
    ask(SQL_ENOUGH)


def these(events: Events, paths: Mapping[int, Collection[str]]) -> Iterator[Read]:
    """The same of any events, those that are there."""
    for begin in range(0, len(events), AT_ONCE):
        some = events[begin : begin + AT_ONCE]
        ids, times = [number for number, _ in some], [at for _, at in some]
        bounds = min(times), max(times)
        yield _read(list(map(Stored._make, ask(SQL_THESE, ids, *bounds, *bounds))), set(ids), paths)


def _read(rows: list[Stored], telling: Collection[int], paths: Mapping[int, Collection[str]]) -> Read:
    """`telling`: the events whose attempts may tell more than they do."""
    keys = KEYS.of({row.quarantine for row in rows})
    tries: dict[int, list[Try]] = defaultdict(list)
    if asked := [row.id for row in rows if row.id in telling]:
        for one in ask(SQL_TRIES, asked):
            tries[one[0]].append(one)
    return [
        (row, _source(row, keys.get(row.quarantine), tries.get(row.id, ()), paths.get(row.flow, ()))) for row in rows
    ]


def _source(row: Stored, key: bytes | None, tries: Sequence[Try], paths: Collection[str]) -> Source:
    error_types = _once(row.error_type, [tried[1] for tried in tries])
    messages = () if row.scrubbed else _once(row.error_message, [tried[2] for tried in tries])
    source = Source(row.event_id, key, _places(row), row.event_type, error_types, messages)
    if not row.scrubbed:
        if tries:
            source.validation_errors = [error for tried in tries if tried[3] for error in tried[3]]
        source.record_key, source.value, source.paths = row.record_key, row.value, paths
        if row.headers:
            source.headers = own_headers.texts(
                row.headers, row.dialect, (row.flow, row.dialect, row.event_type[:SHORT])
            )
    return source


def _places(row: Stored) -> list[str]:
    parking = f"{row.parking_topic}/{row.parking_partition}/{row.parking_offset}"
    if row.source_topic and row.source_offset is not None:
        return [f"{row.source_topic}/{row.source_partition}/{row.source_offset}", parking]
    return [parking]


def _once(text: str, of_tries: Sequence[str]) -> Collection[str]:
    if not of_tries:
        return (text,) if text else ()
    return dict.fromkeys(filter(None, (text, *of_tries)))
