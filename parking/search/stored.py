"""What the store holds of some events, as sources of their words."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from parking import dialects, fields
from parking.ask import ask
from parking.malformed import Malformed
from parking.search import document
from parking.search.document import Source

LONGEST_NAMES = 4096
"""Bytes of an event's header names that are remembered."""

# The bounds of the times leave the partitions of other days out of the plan.
SQL_STORED = f"""
SELECT e.id, e.stored_at, e.flow_id, e.scrubbed_at IS NOT NULL AS scrubbed, p.dialect, p.event_id, p.event_type,
    p.error_type, p.error_message, p.source_topic, p.source_partition, p.source_offset, p.parking_topic,
    p.parking_partition, p.parking_offset, k.key AS hold_key, l.key AS record_key, l.headers,
    substring(l.value FROM 1 FOR {document.LARGEST_JSON + 1}) AS value
FROM unnest(%s::int8[]) AS wanted (id)
JOIN parking_eventstate e USING (id)
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at AND p.stored_at BETWEEN %s AND %s
LEFT JOIN parking_eventpayload l ON l.id = e.id AND l.stored_at = e.stored_at AND l.stored_at BETWEEN %s AND %s
LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id
LEFT JOIN parking_holdkey k ON k.id = q.hold_key_id
"""  # noqa: S608 - a number of ours
SQL_TRIES = """
SELECT event_state_id, error_type, message, nullif(validation_errors, '[]') FROM parking_attempt
WHERE event_state_id = ANY(%s::int8[]) ORDER BY event_state_id, id
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


Try = tuple[int, str, str, list[dict[str, Any]] | None]
"""One row of SQL_TRIES."""


def read(
    events: Sequence[tuple[int, datetime]], paths: Mapping[int, Collection[str]]
) -> Iterator[tuple[Stored, Source]]:
    """These events (id, stored at), those that are there. `paths`: flow → the search paths that it allows."""
    ids, times = [number for number, _ in events], [at for _, at in events]
    tries: dict[int, list[Try]] = defaultdict(list)
    for one in ask(SQL_TRIES, ids):
        tries[one[0]].append(one)
    bounds = min(times), max(times)
    for row in map(Stored._make, ask(SQL_STORED, ids, *bounds, *bounds)):
        yield row, _source(row, tries.get(row.id, ()), paths.get(row.flow, ()))


def _source(row: Stored, tries: Sequence[Try], paths: Collection[str]) -> Source:
    source = Source(
        row.event_id, row.hold_key, _places(row), row.event_type, _unique(row.error_type, [tried[1] for tried in tries])
    )
    if not row.scrubbed:
        source.messages = _unique(row.error_message, [tried[2] for tried in tries])
        source.validation_errors = [error for tried in tries if tried[3] for error in tried[3]]
        source.record_key, source.value, source.paths = row.record_key, row.value, paths
        source.headers = _headers(row) if row.headers else ()
    return source


def _places(row: Stored) -> list[str]:
    parking = f"{row.parking_topic}/{row.parking_partition}/{row.parking_offset}"
    if row.source_topic and row.source_offset is not None:
        return [f"{row.source_topic}/{row.source_partition}/{row.source_offset}", parking]
    return [parking]


def _unique(text: str, more: Sequence[str]) -> Collection[str]:
    return dict.fromkeys(filter(None, (text, *more)))


def _headers(row: Stored) -> Sequence[bytes]:
    """The event's own: what a producer said of the failure is in the error type and message already."""
    try:
        parts = fields.unpack(row.headers or b"")
        names, values = tuple(parts[::2]), parts[1::2]
        size = sum(len(name or b"") for name in names)
        named = _searched if size <= LONGEST_NAMES else _searched.__wrapped__  # long ones are not worth the room
        searched, looked_at = named(row.dialect, names)
    except (Malformed, UnicodeDecodeError):
        return ()
    found = [values[at] for at in looked_at if at < len(values)]
    return [searched, *(value[: document.LARGEST_JSON] for value in found if value is not None)]


@lru_cache(maxsize=4096)
def _searched(dialect: str, names: tuple[bytes | None, ...]) -> tuple[bytes, list[int]]:
    """The names as one text, and where the values are that are searched.

    A stack trace is looked at and not searched, whoever writes it into a header.
    """
    own = [
        (at, name)
        for at, name in enumerate(names)
        if name is not None and not dialects.added(dialect, name.decode("utf-8", "surrogatepass"))
    ]
    ends = (b"stacktrace", b"stack_trace", b"stack-trace")
    return b"\n".join(name for _, name in own), [at for at, name in own if not name.lower().endswith(ends)]
