"""Bento and Redpanda Connect (dlq formats, §5): the metadata of the source record as text, on healthy records as well.

So only an error text, of the fallback output or under a name of the user's, or the topic's name makes it a dead letter.
"""

from parking.dialects import causes, dead_letter, hand_rolled, topics
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import decimal, text
from parking.record import Record

FRAMEWORK = "bento"

_PREFIX, _ERROR = "kafka_", "fallback_error"
_OF_A_FAILURE = frozenset(
    (
        _ERROR,
        *(
            f"{_PREFIX}{name}"
            for name in ("key", "topic", "partition", "offset", "timestamp_unix", "timestamp_unix_ms", "lag",
                         "tombstone_message")
        ),
    )
)  # fmt: skip
_NOT_ORIGINAL = "A processor of its producer may have written the value anew."
_NO_KEY = "Its producer was not told to keep the key: the header kafka_key has it."


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    message = text(record.last(_ERROR))
    named, found, stacktrace = ([], message, None) if message else hand_rolled.why(record.headers)
    failed = bool(found or stacktrace or any(named)) or topics.is_dead_letter(record.topic)
    why = causes.fields(named, found, stacktrace)
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        _source(record),
        why,
        kind=DEAD_LETTER if failed else UNKNOWN,
        not_original=_not_original(record, rewritten=message is None and failed),
        unwrapped=(record.key, None) if _tombstone(record) else None,
    )


def _source(record: Record) -> Position:
    ms, seconds = decimal(record.last("kafka_timestamp_unix_ms")), decimal(record.last("kafka_timestamp_unix"))
    return Position(
        text(record.last("kafka_topic")) or "",
        decimal(record.last("kafka_partition")),
        decimal(record.last("kafka_offset")),
        ms if ms is not None or seconds is None else seconds * 1000,
    )


def _tombstone(record: Record) -> bool:
    return record.value == b"" and record.last("kafka_tombstone_message") == b"true"


def _not_original(record: Record, *, rewritten: bool) -> str:
    no_key = record.key is None and bool(record.last("kafka_key"))
    return " ".join(text for text, so in ((_NO_KEY, no_key), (_NOT_ORIGINAL, rewritten)) if so)
