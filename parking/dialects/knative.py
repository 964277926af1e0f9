"""Knative Eventing, dead letter sink on Kafka (dlq formats, §5): attributes of the CloudEvent say why.

In binary mode they are `ce_*` headers, in structured mode members of the JSON value.
"""

from collections.abc import Callable
from typing import Any

from parking.dialects import causes, envelope, json_members, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text
from parking.record import Record

_BINARY, _ATTRIBUTE = "ce_knativeerror", "knativeerror"
_CONTENT_TYPE = b"application/cloudevents+json"
_IN_THE_VALUE = "What its producer says of the failure stands in the value itself."


def _binary(found: Found) -> Reading:
    return _read(found, lambda attribute: text(found.last(f"ce_{attribute}")))


def _structured(found: Found) -> Reading:
    event = _event(found.record) or {}
    return _read(found, lambda attribute: _text(event.get(attribute)), not_original=_IN_THE_VALUE)


def _read(found: Found, said: Callable[[str], str | None], not_original: str = "") -> Reading:
    code = said(f"{_ATTRIBUTE}code")
    return found.reading(
        Position("", None, None, times.iso(said("time"))),
        component=said(f"{_ATTRIBUTE}dest"),
        not_original=not_original,
        why=causes.why([f"HTTP {code}" if code else None], _answer(said)),
    )


def _asks(record: Record) -> bool:
    return _event(record) is not None


def _event(record: Record) -> dict[str, Any] | None:
    """The members of a CloudEvent in structured mode that failed."""
    value, kind = record.value, record.last("content-type")
    if value is None or kind is None or not kind.lower().startswith(_CONTENT_TYPE):
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


FAMILY = Family("knative", _binary, headers=(f"{_BINARY}*",))
STRUCTURED = Family("knative", _structured, asks=_asks)
