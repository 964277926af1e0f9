"""Watermill, Go: poison queue (dlq formats, §5). All is text; each failure replaces the one before, in random order.

There is no offset, and its default marshaler drops the key. Of a panic, message and stack trace share one header.
"""

from parking.dialects import causes
from parking.dialects.family import Family, Found, any_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import last, text
from parking.record import Headers

_REASON, _TOPIC, _HANDLER, _SUBSCRIBER = (f"{name}_poisoned" for name in ("reason", "topic", "handler", "subscriber"))
_STACK = ", stacktrace: "
_NO_KEY = "Its producer may have dropped the key."


def read(found: Found) -> Reading:
    record = found.record
    message, stacktrace = _why(text(record.last(_REASON)))
    return found.reading(
        _position(record.headers),
        component=text(record.last(_HANDLER)),
        not_original=_NO_KEY if record.key is None else "",
        **causes.fields([], message, stacktrace),
    )


def _why(reason: str | None) -> tuple[str | None, str | None]:
    """Message and stack trace; only a recovered panic has one."""
    if reason is None or not reason.startswith("panic occurred: "):
        return reason, None
    message, _, stacktrace = reason.partition(_STACK)
    return message, stacktrace.lstrip("\n") or None


def _position(headers: Headers) -> Position | None:
    topic = text(last(headers, _TOPIC))
    return Position(topic, None, None) if topic else None


FAMILY = Family(
    "watermill",
    read,
    headers=(_REASON, _TOPIC, _HANDLER, _SUBSCRIBER),
    also=("_watermill_delayed_until", "_watermill_delayed_for"),  # kept, a replayed event would wait as well
    signature=any_of(_REASON),
    oldest=_position,
)
