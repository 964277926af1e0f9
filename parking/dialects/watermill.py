"""Watermill, Go: poison queue (dlq formats, §5). All is text; each failure replaces the one before, in random order.

There is no offset, and its default marshaler drops the key. Of a panic, message and stack trace share one header.
"""

from parking.dialects import causes, times
from parking.dialects.family import Family, Found, any_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text

_REASON, _TOPIC, _HANDLER, _SUBSCRIBER = (f"{name}_poisoned" for name in ("reason", "topic", "handler", "subscriber"))
_DUE = "_watermill_delayed_until"
_STACK = ", stacktrace: "
_NO_KEY = "Its producer may have dropped the key."


def read(found: Found) -> Reading:
    record = found.record
    message, stacktrace = _why(text(found.last(_REASON)))
    return found.reading(
        _position(found),
        component=text(found.last(_HANDLER)),
        due_at_ms=times.iso(text(found.last(_DUE))),
        not_original=_NO_KEY if record.key is None else "",
        why=causes.why([], message, stacktrace),
    )


def _why(reason: str | None) -> tuple[str | None, str | None]:
    """Message and stack trace; only a recovered panic has one."""
    if reason is None or not reason.startswith("panic occurred: "):
        return reason, None
    message, _, stacktrace = reason.partition(_STACK)
    return message, stacktrace.lstrip("\n") or None


def _position(found: Found) -> Position | None:
    topic = text(found.last(_TOPIC))
    return Position(topic, None, None) if topic else None


FAMILY = Family(
    "watermill",
    read,
    headers=(_REASON, _TOPIC, _HANDLER, _SUBSCRIBER),
    also=(_DUE, "_watermill_delayed_for"),  # kept, a replayed event would wait as well
    signature=any_of(_REASON),
    oldest=_position,
)
