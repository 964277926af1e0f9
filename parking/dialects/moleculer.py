"""moleculer-channels, Node (dlq formats, §5): text headers, replaced at each failure; stack and data in base64.

Before 0.3 nothing tells of the error. After a redelivery the partition is that of the copy that was sent again.
"""

from parking.dialects import causes, dead_letter, envelope, hand_rolled
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text
from parking.record import Record

FRAMEWORK = "moleculer-channels"

_OF_A_FAILURE = frozenset(
    (
        "x-original-channel", "x-original-group", "x-original-partition", "x-redelivered-count",
        *(
            f"x-error-{name}"
            for name in ("name", "message", "code", "type", "retryable", "timestamp", "stack", "data")
        ),
    )
)  # fmt: skip


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: kept, its tries would be used up already."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    again = record.has("x-redelivered-count")
    count = decimal(record.last("x-redelivered-count")) if again else 0
    partition = None if again else decimal(record.last("x-original-partition"))
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        Position(text(record.last("x-original-channel")) or "", partition, None),
        causes.fields(*_why(record)),
        consumer_group=text(record.last("x-original-group")),
        attempts=None if count is None else count + 1,
        failed_at_ms=decimal(record.last("x-error-timestamp")),
    )


def _why(record: Record) -> hand_rolled.Why:
    name, message = text(record.last("x-error-name")), text(record.last("x-error-message"))
    if name is None and message is None:
        return hand_rolled.why(record.headers)
    stack = record.last("x-error-stack")
    return hand_rolled.Why([name], message, text(envelope.decoded(stack) or stack))
