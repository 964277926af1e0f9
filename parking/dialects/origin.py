"""Positions that a record carries: where its newest failure was, and where the oldest (dlq formats, §1)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from parking.dialects.values import decimal, firsts, int32, int64, text
from parking.record import Headers, Record

Number = Callable[[bytes | None], int | None]


class Position(NamedTuple):
    topic: str
    partition: int | None
    offset: int | None
    timestamp_ms: int | None = None


def fields(source: Position | None, oldest: Position | None) -> dict[str, Any]:
    """The members of a Reading: `source`, where the newest failure was, and the oldest position if it is another."""
    if source is None:
        source = _NOWHERE
    earlier = oldest if oldest and oldest[:3] != source[:3] else None
    return {
        "source_topic": source.topic or None,
        "source_partition": source.partition,
        "source_offset": source.offset,
        "source_timestamp_ms": source.timestamp_ms,
        "origin_topic": (earlier.topic or None) if earlier else None,
        "origin_partition": earlier.partition if earlier else None,
        "origin_offset": earlier.offset if earlier else None,
    }


def of_the_record(record: Record, position: Position) -> Position:
    """The position with the timestamp of the record, where a family keeps that of the source (rule 9)."""
    return position._replace(timestamp_ms=record.timestamp_ms if record.timestamp_ms >= 0 else None)


def with_timestamp(oldest: Position | None, source: Position) -> Position | None:
    """No set carries its timestamp, but the record keeps that of the newest position."""
    return source if oldest is not None and oldest[:3] == source[:3] else oldest


class Named(NamedTuple):
    """How the headers of a position are called. `timestamp` is None where the family carries none."""

    topic: str
    partition: str
    offset: str
    timestamp: str | None = None
    number: tuple[Number, Number, Number] = (decimal, decimal, decimal)
    """What decodes partition, offset and timestamp."""

    def first(self, headers: Headers) -> Position | None:
        """The position in the first set of these headers: of a family that appends, its oldest."""
        place = next((place for place, (name, _) in enumerate(headers) if name == self.topic), None)
        return None if place is None else self._known(headers[place:])

    def last(self, headers: Headers) -> Position | None:
        """The position in the last set: the newest of a family that appends, the oldest of one that writes in front."""
        places = range(len(headers) - 1, -1, -1)
        place = next((place for place in places if headers[place][0] == self.topic), None)
        return None if place is None else self._known(headers[place:])

    def at(self, headers: Headers) -> Position:
        """The first values of these headers; an empty topic where they name none."""
        value = firsts(headers).get
        partition, offset, timestamp = self.number
        return Position(
            text(value(self.topic)) or "",
            partition(value(self.partition)),
            offset(value(self.offset)),
            None if self.timestamp is None else timestamp(value(self.timestamp)),
        )

    def only(self, headers: Headers) -> Position | None:
        """The position of a family that replaces its headers, in whatever order they stand."""
        return self._known(tuple(reversed(headers)))

    def _known(self, headers: Headers) -> Position | None:
        position = self.at(headers)
        return position if position.topic else None


def named(
    prefix: str, number: tuple[Number, Number, Number] = (decimal, decimal, decimal), *, timed: bool = False
) -> Named:
    """`<prefix>topic`, `<prefix>partition`, `<prefix>offset` and, if `timed`, `<prefix>timestamp`."""
    return Named(
        f"{prefix}topic", f"{prefix}partition", f"{prefix}offset", f"{prefix}timestamp" if timed else None, number
    )


BINARY: tuple[Number, Number, Number] = (int32, int64, int64)
"""Big-endian, as Spring writes them."""
_NOWHERE = Position("", None, None)
