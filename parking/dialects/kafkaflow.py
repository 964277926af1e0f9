"""KafkaFlow.Retry durable, .NET (dlq formats, §4): what failed is parked in a database; Kafka has its retry topic only.

The value is gzip of JSON that Newtonsoft wrote from the object: not the bytes of the source.
"""

from parking.dialects import causes, envelope
from parking.dialects.family import Family, Found
from parking.dialects.reading import RETRY_PENDING, Reading
from parking.dialects.values import decimal

_PREFIX = "Kafka-Flow-Retry-Durable-"
_NOT_ORIGINAL = "Its producer wrote the value anew as JSON."


def read(found: Found) -> Reading:
    record = found.record
    return found.reading(
        kind=RETRY_PENDING,
        attempts=decimal(found.last(f"{_PREFIX}Attempts-Count")),
        original_value=envelope.gunzipped(record.value),
        not_original=_NOT_ORIGINAL,
        why=causes.why([], None),
    )


FAMILY = Family("kafkaflow-retry", read, headers=(f"{_PREFIX}*",))
