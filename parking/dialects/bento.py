"""Bento and Redpanda Connect (dlq formats, §5): the metadata of the source record as text, on healthy records as well.

So only an error text, of the fallback output or under a name of the user's, or the topic's name makes it a dead letter.
"""

from parking.dialects import causes, hand_rolled, topics
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import decimal, text

_ERROR = "fallback_error"
_METADATA = (
    "topic", "partition", "offset", "key", "timestamp_unix", "timestamp_unix_ms", "lag", "tombstone_message",
)  # fmt: skip
_NOT_ORIGINAL = "A processor of its producer may have written the value anew."
_NO_KEY = "Its producer was not told to keep the key: the header kafka_key has it."


def read(found: Found) -> Reading:
    record = found.record
    message = text(found.last(_ERROR))
    why = causes.why([], message) if message else causes.why(*hand_rolled.why(found))
    told = why.error_class or why.message or why.stacktrace
    failed = bool(told) or topics.is_dead_letter(record.topic)
    return found.reading(
        _position(found),
        kind=DEAD_LETTER if failed else UNKNOWN,
        not_original=_not_original(found, rewritten=failed and message is None),
        unwrapped=(record.key, None) if _is_tombstone(found) else None,
        why=why,
    )


def _is_tombstone(found: Found) -> bool:
    """It writes an empty value for a null one."""
    return found.record.value == b"" and found.last("kafka_tombstone_message") == b"true"


def _not_original(found: Found, *, rewritten: bool) -> str:
    no_key = found.record.key is None and bool(found.last("kafka_key"))
    return " ".join(sentence for sentence, so in ((_NO_KEY, no_key), (_NOT_ORIGINAL, rewritten)) if so)


def _position(found: Found) -> Position | None:
    topic = text(found.last("kafka_topic"))
    named = ("partition", "offset", "timestamp_unix_ms", "timestamp_unix")
    partition, offset, ms, seconds = (decimal(found.last(f"kafka_{name}")) for name in named)
    return Position(topic, partition, offset, ms if ms or seconds is None else seconds * 1000) if topic else None


FAMILY = Family(
    "bento",
    read,
    headers=(_ERROR, *(f"kafka_{name}" for name in _METADATA)),
    signature=all_of("kafka_topic", "kafka_offset"),
    oldest=_position,
)
