"""retriable-kafka-client, Python (dlq formats, §5): records on its retry topic; after the last try it only logs.

Numbers are int64. Source, headers and key are not kept: the key is that of the chunks which a large value is cut into.
"""

from parking.dialects import causes, times
from parking.dialects.family import Family, Found, any_of
from parking.dialects.reading import RETRY_PENDING, Reading
from parking.dialects.values import int64

_ATTEMPT = "retriable_kafka_attempt"
_NOT_ORIGINAL = "Its producer keeps neither the key nor the headers of the event."


def read(found: Found) -> Reading:
    due = int64(found.last("retriable_kafka_timestamp"))
    return found.reading(
        kind=RETRY_PENDING,
        due_at_ms=None if due is None else times.epoch(due),
        attempts=int64(found.last(_ATTEMPT)),
        not_original=_NOT_ORIGINAL,
        why=causes.why([], None),
    )


FAMILY = Family("retriable-kafka-client", read, headers=("retriable_kafka_*",), signature=any_of(_ATTEMPT))
