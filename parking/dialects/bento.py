"""Bento and Redpanda Connect (dlq formats, §5): the metadata of the source record as text, on healthy records as well.

So only an error text, of the fallback output or under a name of the user's, or the topic's name makes it a dead letter.
"""

from parking.dialects import causes, hand_rolled, topics
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import decimal, last, text
from parking.record import Headers, Record

_ERROR = "fallback_error"
_METADATA = (
    "topic", "partition", "offset", "key", "timestamp_unix", "timestamp_unix_ms", "lag", "tombstone_message",
)  # fmt: skip
_NOT_ORIGINAL = "A processor of its producer may have written the value anew."
_NO_KEY = "Its producer was not told to keep the key: the header kafka_key has it."


def read(found: Found) -> Reading:
    record = found.record
    message = text(record.last(_ERROR))
    why = causes.fields([], message) if message else causes.fields(*hand_rolled.why(found))
    told = any(why[name] for name in ("error_class", "error_message", "stacktrace"))
    failed = told or topics.is_dead_letter(record.topic)
    return found.reading(
        _position(record.headers),
        kind=DEAD_LETTER if failed else UNKNOWN,
        not_original=_not_original(record, rewritten=failed and message is None),
        unwrapped=(record.key, None) if _is_tombstone(record) else None,
        **why,
    )


def _is_tombstone(record: Record) -> bool:
    """It writes an empty value for a null one."""
    return record.value == b"" and record.last("kafka_tombstone_message") == b"true"


def _not_original(record: Record, *, rewritten: bool) -> str:
    no_key = record.key is None and bool(record.last("kafka_key"))
    return " ".join(sentence for sentence, so in ((_NO_KEY, no_key), (_NOT_ORIGINAL, rewritten)) if so)


def _position(headers: Headers) -> Position | None:
    topic = text(last(headers, "kafka_topic"))
    named = ("partition", "offset", "timestamp_unix_ms", "timestamp_unix")
    partition, offset, ms, seconds = (decimal(last(headers, f"kafka_{name}")) for name in named)
    return Position(topic, partition, offset, ms if ms or seconds is None else seconds * 1000) if topic else None


FAMILY = Family(
    "bento",
    read,
    headers=(_ERROR, *(f"kafka_{name}" for name in _METADATA)),
    signature=all_of("kafka_topic", "kafka_offset"),
    oldest=_position,
)
