"""bakdata kafka-error-handling, where the value is an Avro `DeadLetter` around the event (dlq formats, §3.8)."""

from typing import Any

from parking.dialects import java, registered
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.record import Record

_SINCE_1_2 = {
    "input_value": "?text", "topic": "?text", "partition": "?number", "offset": "?number", "description": "text",
    "error_class": "?text", "message": "?text", "stack_trace": "?text", "input_timestamp": "?number",
}  # fmt: skip
_LARGEST_PARTITION = 10**6
_AS_TEXT = "Its producer wrote the value as a text of its own."


def read(found: Found) -> Reading:
    record = found.record
    told = _told(record) or dict.fromkeys(_SINCE_1_2)
    content = None if told["input_value"] is None else told["input_value"].encode()
    source = Position(
        told["topic"] or "",
        registered.known(told["partition"]),
        registered.known(told["offset"]),
        registered.known(told["input_timestamp"]),
    )
    return found.reading(
        source,
        oldest=source,
        component=told["description"] or None,
        original_value=content,
        unwrapped=(record.key, content),
        not_original=_AS_TEXT,
        **java.fields([told["error_class"] or None], told["message"] or None, told["stack_trace"] or None),
    )


def _told(record: Record) -> dict[str, Any] | None:
    """Nothing else of it is sure to be there, so at least the stack has to be one of Java's."""
    told = registered.read(record.value, _SINCE_1_2)
    if told is None or not -1 <= (told["partition"] or 0) <= _LARGEST_PARTITION:
        return None
    return told if java.chain(told["stack_trace"]) or java.chain(told["error_class"]) else None


FAMILY = Family("bakdata", read, asks=lambda record: _told(record) is not None)
