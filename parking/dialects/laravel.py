"""laravel-kafka, PHP (dlq formats, §5): class and message of the exception as text; nothing of where it came from."""

from parking.dialects import causes, dead_letter
from parking.dialects.reading import Reading
from parking.dialects.values import text
from parking.record import Record

FRAMEWORK = "laravel-kafka"

_PREFIX = "kafka_throwable_"


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name.startswith(_PREFIX)


def read(record: Record) -> Reading:
    why = causes.fields([text(record.last(f"{_PREFIX}class_name"))], text(record.last(f"{_PREFIX}message")))
    return dead_letter.of(FRAMEWORK, record, failure_header, dead_letter.NOWHERE, why)
