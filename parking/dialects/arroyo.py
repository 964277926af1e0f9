"""arroyo by Sentry, Python and Rust (dlq formats, §5): partition and offset as text, appended; nothing else."""

from parking.dialects import causes, dead_letter, hand_rolled
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal
from parking.record import Record

FRAMEWORK = "arroyo"

_PARTITION, _OFFSET = "original_partition", "original_offset"


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name in (_PARTITION, _OFFSET)


def read(record: Record) -> Reading:
    source = Position("", decimal(record.last(_PARTITION)), decimal(record.last(_OFFSET)))
    return dead_letter.of(FRAMEWORK, record, failure_header, source, causes.fields(*hand_rolled.why(record.headers)))
