"""The oldest position that a record carries, of whatever family: where its first failure happened (dlq formats, §1)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from parking.dialects.values import decimal, int32, int64, text
from parking.record import Headers

Number = Callable[[bytes | None], int | None]


class Position(NamedTuple):
    topic: str
    partition: int | None
    offset: int | None
    timestamp_ms: int | None = None


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


def oldest(headers: Headers) -> Position | None:
    """The position that was written first, None if there is none. SmallRye alone writes the newest in front."""
    found = [place for names in _FAMILIES for place in _places(headers, names)]
    return min(found)[1] if found else None


def _places(headers: Headers, names: _Names) -> Iterator[tuple[int, Position]]:
    topics = [place for place, (name, _) in enumerate(headers) if name == f"{names.prefix}topic"]
    if topics:
        place = topics[-1] if names.newest_first else topics[0]
        position = _position(headers[place:], names)
        if position is not None:
            yield topics[0], position


def _position(headers: Headers, names: _Names) -> Position | None:
    def value(name: str) -> bytes | None:
        return next((value for header, value in headers if header == names.prefix + name), None)

    topic = text(value("topic"))
    if topic is None:
        return None
    return Position(
        topic, names.partition(value("partition")), names.offset(value("offset")), int64(value("timestamp"))
    )
