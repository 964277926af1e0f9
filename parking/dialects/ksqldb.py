"""ksqlDB, the processing log (dlq formats, §3.8): a log, not dead letters. JSON; which error it is names its member.

The record stands there only where `ksql.logging.processing.rows.include` is set, and only of a deserialization.
"""

from typing import Any

from parking.dialects import causes, envelope, json_members, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.record import Record

_MARK, _LOGGER = b'"processing.', "processing."
_ERRORS = (
    "deserializationError", "recordProcessingError", "productionError", "serializationError", "kafkaStreamsThreadError",
)  # fmt: skip
_NOT_THERE = "The log entry does not contain the record."
_ONE_PART = "The log entry contains only the key or the value of the record."


def asks(record: Record) -> bool:
    value = record.value
    return value is not None and value[:1] == b"{" and _MARK in value and _error(envelope.members(value)) is not None


def read(found: Found) -> Reading:
    told = envelope.members(found.record.value) or {}
    error = _error(told) or {}
    encoded, is_key = error.get("recordB64"), error.get("target") == "key"
    content = envelope.decoded(encoded) if isinstance(encoded, str) else None
    topic = json_members.text(error.get("topic"))
    return found.reading(
        Position(topic, None, None) if topic else None,
        component=_query(json_members.text(told.get("logger"))),
        failed_at_ms=times.epoch(json_members.number(told.get("time"))),
        original_key=content if is_key else None,
        original_value=None if is_key else content,
        unwrapped=None if content is None else (content, None) if is_key else (None, content),
        payload_missing=content is None,
        not_original=_NOT_THERE if content is None else _ONE_PART,
        why=causes.why([], json_members.text(error.get("errorMessage"))),
    )


def _error(told: dict[str, Any] | None) -> dict[str, Any] | None:
    """The one error of a log entry."""
    if not told or not str(told.get("logger")).startswith(_LOGGER):
        return None
    message = json_members.object_in(told, "message")
    return next((message[name] for name in _ERRORS if isinstance(message.get(name), dict)), None)


def _query(logger: str | None) -> str | None:
    """`processing.<query>.<place in it>`."""
    query = (logger or "").removeprefix(_LOGGER).partition(".")[0]
    return f"query {query}" if query else None


FAMILY = Family("ksqldb", read, asks=asks)
