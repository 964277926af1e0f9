"""Our own records on the parking topic (DESIGN section 5): poison and held events, and outcomes."""

from dataclasses import replace
from typing import Any

from parking import error_group
from parking.attempt import Attempt
from parking.dialects.reading import DEAD_LETTER, OUTCOME, Reading, Unreadable
from parking.fingerprint import of_packed
from parking.headers import pack
from parking.malformed import Malformed
from parking.record import Record
from parking.wire import Announcement, Outcome, decode_parking, names

FRAMEWORK = "siding"
OTHER_BYTES = "The bytes are not those that the consumer took the fingerprint of."

_MAY_BE_LOST = (names.ATTEMPTS, names.EVIDENCE)
"""Fields without which an event is still parked in its place: order matters more than the story."""


def read(record: Record) -> Reading:
    """Raises Unreadable if what makes it a record of ours is missing or malformed."""
    wire, doubts = _decode(record)
    if isinstance(wire, Outcome):
        return _outcome(wire, doubts)
    return _announcement(wire, doubts)


def _decode(record: Record) -> tuple[Announcement | Outcome, tuple[str, ...]]:
    doubts: tuple[str, ...] = ()
    while True:
        try:
            return decode_parking(record), doubts
        except Malformed as error:
            name = error.where.removeprefix("header ")
            if name not in _MAY_BE_LOST or not record.has(name):
                raise Unreadable(FRAMEWORK, str(error)) from None
            doubts = (*doubts, f"Left out: {error}.")
            record = replace(record, headers=tuple(header for header in record.headers if header[0] != name))


def _announcement(parked: Announcement, doubts: tuple[str, ...]) -> Reading:
    packed = pack(parked.headers)
    is_other = not parked.pointer and of_packed(parked.key, parked.value, packed) != parked.fingerprint
    doubts = (*doubts, OTHER_BYTES) if is_other else doubts
    source, last = parked.source, _last(parked.attempts)
    return Reading(
        framework=FRAMEWORK,
        kind=DEAD_LETTER,
        event_id=parked.event_id,
        source_topic=source.topic or None,
        source_partition=_known(source.partition),
        source_offset=_known(source.offset),
        source_timestamp_ms=_known(source.timestamp_ms),
        consumer_group=parked.consumer_group or None,
        payload_missing=parked.pointer,
        original_headers=parked.headers,
        packed_headers=packed,
        wire=parked,
        not_original=OTHER_BYTES if is_other else "",
        doubts=doubts,
        **_failure(parked.attempts, last),
    )


def _outcome(outcome: Outcome, doubts: tuple[str, ...]) -> Reading:
    return Reading(
        framework=FRAMEWORK,
        kind=OUTCOME,
        event_id=outcome.event_id or "",
        consumer_group=outcome.consumer_group or None,
        wire=outcome,
        doubts=doubts,
        **_failure(outcome.attempts, _last(outcome.attempts)),
    )


def _failure(attempts: tuple[Attempt, ...], last: Attempt | None) -> dict[str, Any]:
    if last is None:
        return {}
    return {
        "error_class": last.error_type or None,
        "error_message": last.message or None,
        "stacktrace": last.stacktrace or None,
        "attempts": last.number,
        "failed_at_ms": _known(last.at),
        "first_failed_at_ms": _known(attempts[0].at),
        "validation_errors": last.validation_errors,
        "error_group": error_group.group(last.error_type, last.message, last.stacktrace).digest,
        "tries": attempts,
    }


def _last(attempts: tuple[Attempt, ...]) -> Attempt | None:
    return attempts[-1] if attempts else None


def _known(number: int) -> int | None:
    return number if number >= 0 else None
