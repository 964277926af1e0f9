"""Poison and held records of the parking topic: the consumer says that an event is parked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from parking import attempt
from parking.attempt import Attempt
from parking.coordinates import Coordinates
from parking.record import Headers, Record
from parking.wire import names
from parking.wire.block import Block, Wire, build, compact, required, source_fields, split
from parking.wire.fit import fit_attempts


@dataclass(slots=True)  # not frozen, which takes twice as long to make
class Announcement:
    """One parked event. `key`, `value` and `headers` are the original ones; `value` is None on a pointer.

    `fingerprint` (32 bytes) is that of the source record, which on a pointer cannot be computed from what is here.
    """

    kind: str
    flow: str
    event_id: str
    position: int
    fingerprint: bytes
    source: Coordinates
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    consumer_group: str | None = None
    attempts: tuple[Attempt, ...] = ()
    blocked_by: str | None = None
    evidence: Mapping[str, Any] | None = None
    pointer: bool = False


def encode(parked: Announcement) -> Wire:
    """The record for the parking topic. Its block is kept within 32 KiB: stack traces are cut first, and say so."""
    block = fit_attempts(
        parked.attempts, parked.evidence, lambda tries, why: _block(replace(parked, attempts=tries, evidence=why))
    )
    return Wire(parked.key, parked.value, (*parked.headers, *block))


def as_pointer(wire: Wire) -> Wire:
    """The same announcement where its size is refused: no value, no original headers; both are read from the source."""
    _, block = split(wire.headers)
    return Wire(wire.key, None, (*block, (names.POINTER, b"1")))


def decode(record: Record) -> Announcement:
    """Read a poison or held record. Raises Malformed."""
    originals, headers = split(record.headers)
    return of_block(record, originals, Block(headers))


def of_block(record: Record, originals: Headers, block: Block) -> Announcement:
    """The same where the headers are split already."""
    tries = block.raw(names.ATTEMPTS)
    return Announcement(
        kind=block.word(names.KIND, names.KINDS),
        flow=required(names.FLOW, block.text(names.FLOW)),
        event_id=required(names.EVENT_ID, block.text(names.EVENT_ID)),
        position=required(names.POSITION, block.number(names.POSITION)),
        fingerprint=required(names.FINGERPRINT, block.digest(names.FINGERPRINT)),
        source=required(names.SOURCE_TOPIC, block.source()),
        key=record.key,
        value=record.value,
        headers=originals,
        consumer_group=block.text(names.CONSUMER_GROUP),
        attempts=() if tries is None else attempt.from_json(tries, f"header {names.ATTEMPTS}"),
        blocked_by=block.text(names.BLOCKED_BY),
        evidence=block.members(names.EVIDENCE) or None,
        pointer=block.raw(names.POINTER) == b"1",
    )


def _block(parked: Announcement) -> Headers:
    return build(
        [
            (names.KIND, parked.kind),
            (names.FLOW, parked.flow),
            (names.EVENT_ID, parked.event_id),
            (names.POSITION, parked.position),
            (names.FINGERPRINT, parked.fingerprint.hex()),
            *source_fields(parked.source),
            (names.CONSUMER_GROUP, parked.consumer_group),
            (names.ATTEMPTS, attempt.to_json(parked.attempts) if parked.attempts else None),
            (names.BLOCKED_BY, parked.blocked_by),
            (names.EVIDENCE, compact(parked.evidence)),
            (names.POINTER, "1" if parked.pointer else None),
        ]
    )
