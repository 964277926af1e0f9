"""Tells events apart that wear the same id, where no ledger has done so (DESIGN section 4, source record, rule 1).

The same id at the same source coordinates, or with the same key and value, is the same event again, and so is what a
replay has sent. Anything else is another event: it gets an id of its own, or its bytes would be lost.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple, TypeGuard

from parking import storable
from parking.ask import array, ask, pairs
from parking.coordinates import Coordinates
from parking.event_id import conflicting
from parking.hold_key import hold_key
from parking.intake.idents import ident, key_ident
from parking.intake.read import EPOCH
from parking.intake.rows import Columns, Ident, Parked, Row

MILLISECOND = timedelta(milliseconds=1)
WORN = "Another event with the same id was parked before: this one is told apart by where it stands."
SQL_THERE = """
SELECT e.id FROM parking_eventstate e
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, event_digest) USING (flow_id, event_digest)
"""
SQL_KNOWN = """
SELECT e.flow_id, e.event_digest, p.source_topic, p.source_partition, p.source_offset,
    w.id IS NOT NULL, sha256(w.key), sha256(w.value)
FROM parking_eventstate e
JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at
LEFT JOIN parking_eventpayload w ON w.id = e.id AND w.stored_at = e.stored_at
WHERE e.id = ANY(%s::bigint[])
"""


class _Known(NamedTuple):
    """Where an event came from, and what it is: digests of key and value; `content` is None where those are gone."""

    source: tuple[str, int | None, int | None]
    content: tuple[bytes | None, bytes | None] | None


def apart(rows: Sequence[Row]) -> tuple[list[Row], set[Ident]]:
    """The rows, those of another event under an id of its own; and the events that are known to be stored nowhere.

    If another process stores one of those meanwhile, the unique key refuses this batch, which is then done in halves.
    """
    doubtful = {row.event for row in rows if _may_be_another(row)}
    if not doubtful:
        return list(rows), doubtful
    known = _known(doubtful)
    new = doubtful - known.keys()
    return [_told_apart(row, known) if _may_be_another(row) else row for row in rows], new


def _may_be_another(row: Row) -> TypeGuard[Parked]:
    return isinstance(row, Parked) and not row.flow.gated and not row.token


def _told_apart(row: Parked, known: dict[tuple[int, bytes], _Known | Columns]) -> Parked:
    before = known.setdefault(row.event, row.columns)
    if before is row.columns:
        return row
    before, this = before if isinstance(before, _Known) else _of(before), _of(row.columns)
    return row if before.source == this.source or before.content == this.content else _renamed(row)


def _renamed(row: Parked) -> Parked:
    columns = row.columns
    base = columns.event_id if columns.event_id_bytes is None else columns.event_id_bytes.decode("utf-8", "replace")
    own = conflicting(base, _coordinates(row))
    columns = replace(
        columns,
        event_id=storable.text(own),
        event_id_bytes=None if storable.text(own) == own else own.encode("utf-8", "surrogatepass"),
        unreadable_reason=f"{columns.unreadable_reason} {WORN}".strip(),
    )
    key = hold_key(columns.key, own, rule=row.flow.key_rule, promise=row.flow.promise)
    return replace(row, event=ident(row.flow, own), hold_key=key, key=key_ident(row.flow, key), columns=columns)


def _coordinates(row: Parked) -> Coordinates:
    """Of the source; of the parking topic where the record names none."""
    columns = row.columns
    if columns.source_partition is None or columns.source_offset is None:
        return Coordinates(columns.parking_topic, row.place.partition, row.place.offset)
    at = -1 if columns.source_at is None else (columns.source_at - EPOCH) // MILLISECOND
    return Coordinates(columns.source_topic, columns.source_partition, columns.source_offset, at)


def _of(columns: Columns) -> _Known:
    source = (columns.source_topic, columns.source_partition, columns.source_offset)
    return _Known(source, (_digest(columns.key), _digest(columns.value)))


def _digest(data: bytes | None) -> bytes | None:
    return None if data is None else hashlib.sha256(data).digest()


def _known(idents: set[Ident]) -> dict[tuple[int, bytes], _Known | Columns]:
    """Those that are stored; of the others nothing is worked out unless they come twice."""
    there = [number for (number,) in ask(SQL_THERE, *pairs(idents))]
    if not there:
        return {}
    return {(flow, digest): _stored(columns) for flow, digest, *columns in ask(SQL_KNOWN, array("int8", there))}


def _stored(columns: Sequence[Any]) -> _Known:
    topic, partition, offset, there, key, value = columns
    return _Known((topic, partition, offset), (key, value) if there else None)
