"""Kafka Streams, KIP-1034 (dlq formats, §3.5): six text headers, a set more with each failure.

A set begins with the exception. Key and value are the source's bytes, and so is the record's timestamp. bakdata's
error handling has the same prefix and other names behind it: another family.
"""

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import text

PREFIX = "__streams.errors."
SOURCE = origin.named(PREFIX)
_CLASS, _MESSAGE, _STACKTRACE = (PREFIX + name for name in ("exception", "message", "stacktrace"))


def read(found: Found) -> Reading:
    value = found.newest
    source = origin.of_the_record(found.record, SOURCE.newest(found))
    return found.reading(
        source,
        oldest=origin.with_timestamp(found.oldest(), source),
        derived=() if source.timestamp_ms is None else ("source_timestamp_ms",),
        why=java.why([_class(text(value(_CLASS)))], text(value(_MESSAGE)), text(value(_STACKTRACE))),
    )


FAMILY = Family(
    "kafka-streams",
    read,
    headers=(_CLASS, _MESSAGE, _STACKTRACE),
    also=(f"{PREFIX}*",),
    begins=(_CLASS,),
    signature=lambda given: _CLASS in given,
    oldest=SOURCE.first,
)


def _class(exception: str | None) -> str | None:
    """Builds before 4.2.0 wrote `class: message`."""
    return exception.partition(": ")[0] or None if exception else None
