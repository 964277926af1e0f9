"""Watermill, Go: poison queue (dlq formats, §5). All is text; each failure replaces the one before, in random order.

There is no offset, and its default marshaler drops the key. Of a panic, message and stack trace share one header.
"""

from parking.dialects import causes, dead_letter
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text
from parking.record import Record

FRAMEWORK = "watermill"

_REASON, _TOPIC, _HANDLER = "reason_poisoned", "topic_poisoned", "handler_poisoned"
_OF_A_FAILURE = frozenset(
    (_REASON, _TOPIC, _HANDLER, "subscriber_poisoned", "_watermill_delayed_until", "_watermill_delayed_for")
)
_STACK = ", stacktrace: "
_NO_KEY = "Its producer may have dropped the key."


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: with its delay kept, a replayed one would wait as well."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    message, stacktrace = _why(text(record.last(_REASON)))
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        Position(text(record.last(_TOPIC)) or "", None, None),
        causes.fields([], message, stacktrace),
        component=text(record.last(_HANDLER)),
        not_original=_NO_KEY if record.key is None else "",
    )


def _why(reason: str | None) -> tuple[str | None, str | None]:
    """Message and stack trace; only a recovered panic has one."""
    if reason is None or not reason.startswith("panic occurred: "):
        return reason, None
    message, _, stacktrace = reason.partition(_STACK)
    return message, stacktrace.lstrip("\n") or None
