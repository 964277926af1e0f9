"""Dapr: what its Kafka component knows of a message becomes text headers of the dead letter (dlq formats, §5).

Who failed, why and how often is not there. When a dead letter is sent to its topic again with its headers, those of the
first pass stay.
"""

from parking.dialects import causes, dead_letter, hand_rolled
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text
from parking.record import Record

FRAMEWORK = "dapr"

_OF_A_FAILURE = frozenset(("__topic", "__partition", "__offset", "__timestamp", "__key", "pubsubName"))


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: kept, they would mask those of the next failure."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    source = Position(
        text(record.last("__topic")) or "",
        decimal(record.last("__partition")),
        decimal(record.last("__offset")),
        decimal(record.last("__timestamp")),
    )
    why = causes.fields(*hand_rolled.why(record.headers))
    return dead_letter.of(FRAMEWORK, record, failure_header, source, why, position_may_be_earlier_pass=True)
