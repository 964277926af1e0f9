"""moleculer-channels, Node (dlq formats, §5): text headers, replaced at each failure; stack and data in base64.

Before 0.3 nothing tells of the error. After a redelivery the partition is that of the copy that was sent again.
"""

from parking.dialects import causes, envelope, hand_rolled, made_up
from parking.dialects.family import Family, Found, any_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_CHANNEL, _GROUP, _PARTITION = "x-original-channel", "x-original-group", "x-original-partition"
_AGAIN = "x-redelivered-count"
_ERROR = ("name", "message", "code", "type", "retryable", "timestamp", "stack", "data")


def read(found: Found) -> Reading:
    count = decimal(found.last(_AGAIN)) if found.has(_AGAIN) else 0
    return found.reading(
        _position(found),
        consumer_group=text(found.last(_GROUP)),
        attempts=None if count is None else count + 1,
        failed_at_ms=decimal(found.last("x-error-timestamp")),
        why=causes.why(*(_why(found) or hand_rolled.why(found))),
    )


def _why(found: Found) -> made_up.Said | None:
    name, message = text(found.last("x-error-name")), text(found.last("x-error-message"))
    if name is None and message is None:
        return None
    stack = found.last("x-error-stack")
    return made_up.Said([name], message, text(envelope.decoded(stack) or stack))


def _position(found: Found) -> Position | None:
    topic = text(found.last(_CHANNEL))
    again = found.has(_AGAIN)
    return Position(topic, None if again else decimal(found.last(_PARTITION)), None) if topic else None


FAMILY = Family(
    "moleculer-channels",
    read,
    headers=(_CHANNEL, _GROUP, _AGAIN),
    also=(_PARTITION, *(f"x-error-{name}" for name in _ERROR)),
    signature=any_of(_CHANNEL),
    oldest=_position,
)
