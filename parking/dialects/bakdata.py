"""bakdata kafka-error-handling (dlq formats, §3.8): text headers, replaced by each failure; null where unknown.

They share their prefix with Kafka Streams' own. The record keeps the source's timestamp. The value may be a record
around the event instead: see `bakdata_value`.
"""

from parking.dialects import java, kafka_streams, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import text

_PREFIX = kafka_streams.PREFIX
_CLASS, _MESSAGE, _STACKTRACE = (f"{_PREFIX}exception.{name}" for name in ("class.name", "message", "stack_trace"))
_DESCRIPTION = f"{_PREFIX}description"


def read(found: Found) -> Reading:
    value = found.last
    source = origin.of_the_record(found.record, kafka_streams.SOURCE.whole(found))
    return found.reading(
        source,
        oldest=origin.with_timestamp(found.oldest(), source),
        component=text(value(_DESCRIPTION)),
        derived=() if source.timestamp_ms is None else ("source_timestamp_ms",),
        why=java.why([text(value(_CLASS))], text(value(_MESSAGE)), text(value(_STACKTRACE))),
    )


FAMILY = Family(
    "bakdata",
    read,
    headers=(_CLASS, _MESSAGE, _STACKTRACE, _DESCRIPTION),
    also=(f"{_PREFIX}*",),
    signature=lambda given: _CLASS in given,
    oldest=kafka_streams.SOURCE.first,
)
