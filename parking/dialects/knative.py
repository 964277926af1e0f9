"""Knative Eventing, dead letter sink on Kafka (dlq formats, §5): attributes of the CloudEvent say why.

In binary mode they are `ce_*` headers, in structured mode members of the JSON value.
"""

from collections.abc import Callable
from typing import Any

from parking.dialects import causes, dead_letter, envelope, json_members, times
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text
from parking.record import Record

FRAMEWORK = "knative"

_BINARY, _ATTRIBUTE = "ce_knativeerror", "knativeerror"
_STRUCTURED = b"application/cloudevents+json"
_IN_THE_VALUE = "What its producer says of the failure stands in the value itself."


def reads(record: Record) -> bool:
    return any(name.startswith(_BINARY) for name, _ in record.headers) or _structured(record) is not None


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name.startswith(_BINARY)


def read(record: Record) -> Reading:
    event = _structured(record)

    def said(attribute: str) -> str | None:
        return text(record.last(f"ce_{attribute}")) if event is None else _text(event.get(attribute))

    code = said(f"{_ATTRIBUTE}code")
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        Position("", None, None, times.iso(said("time"))),
        causes.fields([f"HTTP {code}" if code else None], _answer(said)),
        component=said(f"{_ATTRIBUTE}dest"),
        not_original="" if event is None else _IN_THE_VALUE,
    )


def _structured(record: Record) -> dict[str, Any] | None:
    """The members of a CloudEvent in structured mode that failed."""
    value, kind = record.value, record.last("content-type")
    if value is None or kind is None or not kind.lower().startswith(_STRUCTURED):
        return None
    event = envelope.members(value) if _ATTRIBUTE.encode() in value else None
    return event if event and any(name.startswith(_ATTRIBUTE) for name in event) else None


def _answer(said: Callable[[str], str | None]) -> str | None:
    """What the subscriber answered: base64, which may be cut."""
    encoded = said(f"{_ATTRIBUTE}data")
    if encoded is None:
        return None
    whole = encoded.rstrip("=")
    whole = whole[: len(whole) // 4 * 4] if len(whole) % 4 == 1 else whole + "=" * (-len(whole) % 4)
    content = envelope.decoded(whole)
    return encoded if content is None else text(content)


def _text(member: object) -> str | None:
    return str(member) if isinstance(member, int) else json_members.text(member)
