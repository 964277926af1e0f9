"""retriable-kafka-client, Python (dlq formats, §5): records on its retry topic; after the last try it only logs.

Numbers are int64. Source, headers and key are not kept: the key is that of the chunks which a large value is cut into.
"""

from parking.dialects import causes, dead_letter
from parking.dialects.reading import RETRY_PENDING, Reading
from parking.dialects.values import int64
from parking.record import Record

FRAMEWORK = "retriable-kafka-client"

_PREFIX = "retriable_kafka_"
_NOT_ORIGINAL = "Its producer keeps neither the key nor the headers of the event."


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name.startswith(_PREFIX)


def read(record: Record) -> Reading:
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        dead_letter.NOWHERE,
        causes.fields([], None),
        kind=RETRY_PENDING,
        attempts=int64(record.last(f"{_PREFIX}attempt")),
        not_original=_NOT_ORIGINAL,
    )
