"""The oldest position that a record carries, of whatever family: where its first failure happened (dlq formats, §1)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from parking.dialects.values import decimal, int32, int64, text
from parking.record import Headers

Number = Callable[[bytes | None], int | None]


class Position(NamedTuple):
    topic: str
    partition: int | None
    offset: int | None
    timestamp_ms: int | None = None


def fields(source: Position, oldest: Position | None) -> dict[str, Any]:
    """The members of a Reading: `source`, where the newest failure was, and the oldest position if it is another."""
    earlier = oldest if oldest and oldest[:3] != source[:3] else None
    return {
        "source_topic": source.topic or None,
        "source_partition": source.partition,
        "source_offset": source.offset,
        "source_timestamp_ms": source.timestamp_ms,
        "origin_topic": earlier.topic if earlier else None,
        "origin_partition": earlier.partition if earlier else None,
        "origin_offset": earlier.offset if earlier else None,
    }


class _Names(NamedTuple):
    prefix: str
    partition: Number
    offset: Number
    separator: str = "-"
    newest_first: bool = False


_FAMILIES = (
    _Names("kafka_dlt-original-", int32, int64),
    _Names("kafka_original-", int32, int64),
    _Names("x-original-", int32, int64),
    _Names("__connect.errors.", decimal, decimal),
    _Names("__streams.errors.", decimal, decimal),
    _Names("__dlq.errors.", decimal, decimal),
    _Names("dead-letter-", decimal, decimal, newest_first=True),
)


_BY_TOPIC = {f"{names.prefix}topic": names for names in _FAMILIES}


def oldest(headers: Headers) -> Position | None:
    """The position that was written first, None if there is none. SmallRye alone writes the newest in front."""
    begins: dict[_Names, int] = {}
    for place, (name, _) in enumerate(headers):
        names = _BY_TOPIC.get(name)
        if names is not None and (names.newest_first or names not in begins):
            begins[names] = place
    found = ((place, _position(headers[place:], names)) for names, place in begins.items())
    positions = [(place, position) for place, position in found if position is not None]
    return min(positions)[1] if positions else None


def _position(headers: Headers, names: _Names) -> Position | None:
    def value(name: str) -> bytes | None:
        return next((value for header, value in headers if header == names.prefix + name), None)

    topic = text(value("topic"))
    if topic is None:
        return None
    return Position(
        topic, names.partition(value("partition")), names.offset(value("offset")), int64(value("timestamp"))
    )
