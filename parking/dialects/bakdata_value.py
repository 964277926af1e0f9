"""bakdata kafka-error-handling, where the value is a record around the event (dlq formats, §3.8).

Avro's `DeadLetter` or Protobuf's `ProtoDeadLetter`, behind the id of their schema.
"""

from typing import Any

from parking.dialects import java, protobuf, registered
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.record import INT64, Record

Message = dict[int, int | bytes]

_SINCE_1_2 = {
    "input_value": "?text", "topic": "?text", "partition": "?number", "offset": "?number", "description": "text",
    "error_class": "?text", "message": "?text", "stack_trace": "?text", "input_timestamp": "?number",
}  # fmt: skip
_BEFORE_1_2 = {name: kind for name, kind in _SINCE_1_2.items() if name != "input_timestamp"}
_FIRST = {name: _SINCE_1_2[name] for name in ("input_value", "description", "message", "stack_trace")}
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
        why=java.why([told["error_class"] or None], told["message"] or None, told["stack_trace"] or None),
    )


def _told(record: Record) -> dict[str, Any] | None:
    """Nothing else of it is sure to be there, so at least the stack has to be one of Java's."""
    told = registered.read(record.value, _SINCE_1_2, _BEFORE_1_2, _FIRST) or _protobuf(record.value)
    if told is None:
        return None
    told = {**dict.fromkeys(_SINCE_1_2), **told}
    if not -1 <= (told["partition"] or 0) <= _LARGEST_PARTITION:
        return None
    return told if java.chain(told["stack_trace"]) or java.chain(told["error_class"]) else None


def _protobuf(value: bytes | None) -> dict[str, Any] | None:
    """The same names; behind the id stands a zero for the first message of its schema."""
    if value is None or len(value) < 7 or value[0] or value[5]:
        return None
    letter = protobuf.fields(value[6:])
    cause, at = _inner(letter, 2), _inner(letter, 7)
    if letter is None or cause is None or not letter.keys() <= set(range(1, 8)):
        return None
    return {
        "input_value": _text(letter, 3),
        "topic": _text(letter, 4),
        "partition": _number(letter, 5),
        "offset": _number(letter, 6),
        "description": protobuf.text(letter.get(1)),
        "error_class": _text(cause, 3),
        "message": _text(cause, 1),
        "stack_trace": _text(cause, 2),
        "input_timestamp": None if at is None else _milliseconds(at),
    }


def _inner(message: Message | None, field: int) -> Message | None:
    content = (message or {}).get(field)
    return protobuf.fields(content) if isinstance(content, bytes) else None


def _text(message: Message, field: int) -> str | None:
    """Of a StringValue: an empty one is left out inside."""
    wrapper = _inner(message, field)
    return None if wrapper is None else protobuf.text(wrapper.get(1)) or ""


def _number(message: Message, field: int) -> int | None:
    """Of an Int32Value or Int64Value: 0 is left out inside, −1 has 64 bits."""
    wrapper = _inner(message, field)
    number = 0 if wrapper is None else wrapper.get(1, 0)
    return None if wrapper is None or not isinstance(number, int) or number >= INT64 else number


def _milliseconds(at: Message) -> int | None:
    seconds, nanoseconds = at.get(1, 0), at.get(2, 0)
    if not isinstance(seconds, int) or not isinstance(nanoseconds, int) or seconds >= INT64 // 1000:
        return None
    return seconds * 1000 + nanoseconds // 1_000_000


FAMILY = Family("bakdata", read, asks=lambda record: _told(record) is not None)
