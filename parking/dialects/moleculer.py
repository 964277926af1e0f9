"""moleculer-channels, Node (dlq formats, §5): text headers, replaced at each failure; stack and data in base64.

Before 0.3 nothing tells of the error. After a redelivery the partition is that of the copy that was sent again.
"""

from parking.dialects import causes, envelope, hand_rolled, made_up
from parking.dialects.family import Family, Found, any_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, last, text
from parking.record import Headers, Record

_CHANNEL, _GROUP, _PARTITION = "x-original-channel", "x-original-group", "x-original-partition"
_AGAIN = "x-redelivered-count"
_ERROR = ("name", "message", "code", "type", "retryable", "timestamp", "stack", "data")


def read(found: Found) -> Reading:
    record = found.record
    count = decimal(record.last(_AGAIN)) if record.has(_AGAIN) else 0
    return found.reading(
        _position(record.headers),
        consumer_group=text(record.last(_GROUP)),
        attempts=None if count is None else count + 1,
        failed_at_ms=decimal(record.last("x-error-timestamp")),
        **causes.fields(*(_why(record) or hand_rolled.why(found))),
    )


def _why(record: Record) -> made_up.Why | None:
    name, message = text(record.last("x-error-name")), text(record.last("x-error-message"))
    if name is None and message is None:
        return None
    stack = record.last("x-error-stack")
    return made_up.Why([name], message, text(envelope.decoded(stack) or stack))


def _position(headers: Headers) -> Position | None:
    topic = text(last(headers, _CHANNEL))
    again = any(name == _AGAIN for name, _ in headers)
    return Position(topic, None if again else decimal(last(headers, _PARTITION)), None) if topic else None


FAMILY = Family(
    "moleculer-channels",
    read,
    headers=(_CHANNEL, _GROUP, _AGAIN),
    also=(_PARTITION, *(f"x-error-{name}" for name in _ERROR)),
    signature=any_of(_CHANNEL),
    oldest=_position,
)
