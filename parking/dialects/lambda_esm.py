"""AWS Lambda, Kafka on-failure destination of an event source mapping (dlq formats, §5): JSON around the record.

Key, value and headers of the event are inside; where they were too large only its offset is.
"""

from typing import Any

from parking.dialects import causes, envelope, json_members, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.record import Headers, Record

_MARK = b'"KafkaBatchInfo"'
_SEVERAL = "It wraps several events and does not tell which one failed."
_TOO_LARGE = "The event was too large for its producer to wrap it."


def asks(record: Record) -> bool:
    value = record.value
    return value is not None and value[:1] == b"{" and _MARK in value and _batch(envelope.members(value)) is not None


def read(found: Found) -> Reading:
    told = envelope.members(found.record.value) or {}
    place = json_members.object_in(_batch(told), "recordInfo")
    wrapped, doubt = _wrapped(told, place)
    request = json_members.object_in(told, "requestContext")
    response = json_members.object_in(told, "responseContext")
    why = causes.why([json_members.text(response.get("functionError"))], json_members.text(request.get("condition")))
    content, source = _content(wrapped), _source(wrapped or {}, place)
    return found.reading(
        source,
        oldest=source,
        headers=_headers(wrapped) if wrapped else None,
        attempts=json_members.number(request.get("approximateInvokeCount")),
        failed_at_ms=times.iso(json_members.text(told.get("timestamp"))),
        component=_function(json_members.text(request.get("functionArn"))),
        original_key=content[0] if content else None,
        original_value=content[1] if content else None,
        unwrapped=content,
        payload_missing=content is None,
        not_original=doubt,
        why=why,
    )


def _batch(told: dict[str, Any] | None) -> dict[str, Any] | None:
    batch = (told or {}).get("KafkaBatchInfo")
    return batch if isinstance(batch, dict) else None


def _wrapped(told: dict[str, Any], place: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The one record that is meant, and what to be careful with."""
    by_partition = json_members.object_in(told.get("payload"), "records").values()
    found = [one for part in by_partition if isinstance(part, list) for one in part if isinstance(one, dict)]
    if len(found) > 1:
        offset = json_members.number(place.get("offset"))
        found = [one for one in found if json_members.number(one.get("offset")) == offset]
    if len(found) == 1:
        return found[0], ""
    return None, _SEVERAL if found else _TOO_LARGE


def _source(wrapped: dict[str, Any], place: dict[str, Any]) -> Position:
    timestamp = json_members.number(wrapped.get("timestamp"))
    offset = wrapped.get("offset", place.get("offset"))
    return Position(
        json_members.text(wrapped.get("topic")) or "",
        json_members.number(wrapped.get("partition")),
        json_members.number(offset),
        times.iso(json_members.text(place.get("timestamp"))) if timestamp is None else timestamp,
    )


def _content(wrapped: dict[str, Any] | None) -> tuple[bytes | None, bytes | None] | None:
    """Key and value of the event; None where they are not there or no base64."""
    if wrapped is None:
        return None
    key, value = wrapped.get("key"), wrapped.get("value")
    content = (_bytes(key), _bytes(value))
    lost = (key is not None and content[0] is None) or (value is not None and content[1] is None)
    return None if lost else content


def _bytes(member: object) -> bytes | None:
    return envelope.decoded(member) if isinstance(member, str) else None


def _headers(wrapped: dict[str, Any]) -> Headers:
    """`[{name: [signed bytes] or null}]`, in order; a value that is none of these is null."""
    listed = wrapped.get("headers")
    named = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return tuple((name, _signed(value)) for one in named for name, value in one.items())


def _signed(value: object) -> bytes | None:
    if not isinstance(value, list) or not all(isinstance(one, int) and -128 <= one < 256 for one in value):
        return None
    return bytes(one & 0xFF for one in value)


def _function(arn: str | None) -> str | None:
    """`arn:aws:lambda:<region>:<account>:function:<name>[:<alias>]`."""
    parts = (arn or "").split(":")
    return (parts[6] or None) if len(parts) > 6 else None


FAMILY = Family("aws-lambda", read, asks=asks)
