"""Wolverine, .NET (dlq formats, §4): text headers, replaced by each failure.

`exception-*` stand on all of them, `wolverine-kafka-retry-*` on those that went through its retry tiers, topics named
`<topic>.retry.<30s>`. Before 6.21.0 only the tiers tell the source, and only its topic.
"""

import re
from collections.abc import Callable

from parking.dialects import causes, topics
from parking.dialects.family import Family, Found, Names
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text

_RETRY = "wolverine-kafka-retry-"
_CLASS, _MESSAGE, _STACKTRACE, _FAILED_AT = "exception-type", "exception-message", "exception-stack", "failed-at"
_DESTINATION, _PARTITION, _OFFSET = "original-destination", "original-partition", "original-offset"
_TOPIC = re.compile(r"(?:[A-Za-z][\w.+-]*://topic/)?(.+)", re.DOTALL)
"""The scheme is `kafka`, or the name of the broker where there are several."""
_TIER = re.compile(r"\.retry\.\d+[a-z]*$")
_TICKS_AT_1970, _TICKS_A_MS = 621_355_968_000_000_000, 10_000

Value = Callable[[str], bytes | None]


def read(found: Found) -> Reading:
    value: Value = found.last
    waits = _TIER.search(found.record.topic) is not None
    error_class = text(value(_CLASS)) or text(value(f"{_RETRY}exception-type"))
    return found.reading(
        _source(value),
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        due_at_ms=topics.due_ms(found.record.topic, found.record.timestamp_ms) if waits else None,
        attempts=_attempts(value, waits),
        failed_at_ms=decimal(value(_FAILED_AT)),
        first_failed_at_ms=_ticks(value(f"{_RETRY}first-failed")),
        why=causes.why(
            [error_class],
            text(value(_MESSAGE)) or text(value(f"{_RETRY}exception-message")),
            text(value(_STACKTRACE)),
            outer=error_class,
        ),
    )


def _signature(given: Names) -> bool:
    own = _CLASS in given and _FAILED_AT in given and "original-topic" not in given  # which is somebody else's name
    return own or any(name.startswith(_RETRY) for name in given)


FAMILY = Family(
    "wolverine",
    read,
    headers=(_CLASS, _MESSAGE, _STACKTRACE, _FAILED_AT, _DESTINATION, _PARTITION, _OFFSET, f"{_RETRY}*"),
    also=("attempts",),
    signature=_signature,
    oldest=lambda found: _position(found.last),
)


def _position(value: Value) -> Position | None:
    uri = text(value(_DESTINATION))
    topic = _TOPIC.fullmatch(uri) if uri else None
    return Position(topic[1], decimal(value(_PARTITION)), decimal(value(_OFFSET))) if topic else None


def _source(value: Value) -> Position:
    return _position(value) or Position(text(value(f"{_RETRY}source")) or "", None, None)


def _attempts(value: Value, waits: bool) -> int | None:
    """A tier's header counts the next attempt, and at the end the one that failed; else the envelope's own."""
    number = decimal(value(f"{_RETRY}attempt"))
    if number is None:
        return decimal(value("attempts"))
    return max(number - 1, 0) if waits else number


def _ticks(value: bytes | None) -> int | None:
    """Milliseconds since 1970 of .NET's UTC ticks: 100 ns each, since the year 1."""
    ticks = decimal(value)
    return (ticks - _TICKS_AT_1970) // _TICKS_A_MS if ticks is not None and ticks >= _TICKS_AT_1970 else None
