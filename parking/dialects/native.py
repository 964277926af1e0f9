"""Our own records on the parking topic (DESIGN section 5): poison and held events, and outcomes."""

from dataclasses import replace
from typing import TYPE_CHECKING

from parking.attempt import Attempt
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, OUTCOME, Reading, Unreadable, Why
from parking.fingerprint import of_packed
from parking.headers import pack, pack_values
from parking.malformed import Malformed
from parking.record import Record
from parking.wire import Announcement, Outcome, decode_parking, names

if TYPE_CHECKING:
    from parking.dialects.layout import Layout

FRAMEWORK = "siding"
OTHER_BYTES = "The bytes are not those that the consumer took the fingerprint of."

_MAY_BE_LOST = (names.ATTEMPTS, names.EVIDENCE)
"""Fields without which an event is still parked in its place: order matters more than the story."""


def read(record: Record, layout: "Layout") -> Reading:
    """Raises Unreadable if what makes it a record of ours is missing or malformed."""
    wire, doubts = _decode(record, layout.block)
    if isinstance(wire, Outcome):
        return _outcome(wire, doubts)
    return _announcement(wire, doubts, layout)


def _decode(record: Record, begin: int | None) -> tuple[Announcement | Outcome, tuple[str, ...]]:
    doubts: tuple[str, ...] = ()
    while True:
        try:
            return decode_parking(record, begin), doubts
        except Malformed as error:
            name = error.where.removeprefix("header ")
            if name not in _MAY_BE_LOST or not record.has(name):
                raise Unreadable(FRAMEWORK, str(error)) from None
            doubts = (*doubts, f"Left out: {error}.")
            record = replace(record, headers=tuple(header for header in record.headers if header[0] != name))
            begin = None


def _announcement(parked: Announcement, doubts: tuple[str, ...], layout: "Layout") -> Reading:
    headers = parked.headers
    packed = pack(headers) if doubts else pack_values(layout.written[: len(headers)], headers)
    is_other = not parked.pointer and of_packed(parked.key, parked.value, packed) != parked.fingerprint
    source = parked.source
    reading = Reading(
        FRAMEWORK,
        DEAD_LETTER,
        parked.event_id,
        Position(source.topic, _known(source.partition), _known(source.offset), _known(source.timestamp_ms)),
        consumer_group=parked.consumer_group or None,
        payload_missing=parked.pointer,
        original_headers=headers,
        layout=layout,
        packed_headers=packed,
        wire=parked,
        not_original=OTHER_BYTES if is_other else "",
        doubts=(*doubts, OTHER_BYTES) if is_other else doubts,
    )
    return _failed(reading, parked.attempts)


def _outcome(outcome: Outcome, doubts: tuple[str, ...]) -> Reading:
    reading = Reading(
        FRAMEWORK,
        OUTCOME,
        outcome.event_id or "",
        consumer_group=outcome.consumer_group or None,
        wire=outcome,
        doubts=doubts,
    )
    return _failed(reading, outcome.attempts)


def _failed(reading: Reading, attempts: tuple[Attempt, ...]) -> Reading:
    """With what its attempts tell, if it has any."""
    if attempts:
        last = attempts[-1]
        reading.why = Why(last.error_type or None, last.message or None, last.stacktrace or None)
        reading.attempts = last.number
        reading.failed_at_ms = _known(last.at)
        reading.first_failed_at_ms = _known(attempts[0].at)
        reading.validation_errors = last.validation_errors
    return reading


def _known(number: int) -> int | None:
    return number if number >= 0 else None
