"""uber-go/kafka-client (dlq formats, §5): key, position and count in a protobuf in the key; no headers at all.

Only the topic's name, `…__dlq` or `…__retry`, and a key that is such a message tell of it.
"""

from parking.dialects import causes, protobuf
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.record import INT64, Record

_DEAD, _RETRY = "__dlq", "__retry"
_COUNT, _TOPIC, _PARTITION, _OFFSET, _TIMESTAMP, _KEY = 1, 2, 3, 4, 5, 6
_NO_HEADERS = "Its producer leaves the event's headers out."


def asks(record: Record) -> bool:
    return record.topic.endswith((_DEAD, _RETRY)) and _metadata(record.key) is not None


def read(found: Found) -> Reading:
    record = found.record
    told = _metadata(record.key) or {}
    nanoseconds, key = _number(told, _TIMESTAMP), told.get(_KEY)
    source = Position(
        protobuf.text(told.get(_TOPIC)) or "",
        _number(told, _PARTITION),
        _number(told, _OFFSET),
        nanoseconds // 1_000_000 if nanoseconds else None,
    )
    return found.reading(
        source,
        oldest=source,
        kind=RETRY_PENDING if record.topic.endswith(_RETRY) else DEAD_LETTER,
        attempts=_number(told, _COUNT),
        original_key=key if isinstance(key, bytes) else None,
        unwrapped=(key, record.value),
        not_original=_NO_HEADERS,
        why=causes.why([], None),
    )


def _metadata(key: bytes | None) -> dict[int, int | bytes] | None:
    """The fields of a DLQMetadata; None where the key is none. Zero and null are left out on the wire."""
    told = protobuf.fields(key) if key else None
    if told is None or not isinstance(told.get(_TOPIC), bytes) or not told.keys() <= {1, 2, 3, 4, 5, 6}:
        return None
    numbers = all(isinstance(told.get(number, 0), int) for number in (_COUNT, _PARTITION, _OFFSET, _TIMESTAMP))
    return told if numbers and isinstance(told.get(_KEY, b""), bytes) else None


def _number(told: dict[int, int | bytes], field: int) -> int | None:
    number = told.get(field, 0)
    return number if isinstance(number, int) and number < INT64 else None


FAMILY = Family("uber-kafka-client", read, asks=asks)
