"""Positions that a record carries: where its newest failure was, and where the oldest (dlq formats, §1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from parking.dialects.values import decimal, int32, int64, text
from parking.record import Headers, Record

if TYPE_CHECKING:
    from parking.dialects.family import Found
    from parking.dialects.layout import Layout

Number = Callable[[bytes | None], int | None]
Places = tuple[int, int, int, int]
"""Of topic, partition, offset and timestamp among a record's headers; −1 where there is none."""


class Position(NamedTuple):
    topic: str
    partition: int | None
    offset: int | None
    timestamp_ms: int | None = None


NOWHERE = Position("", None, None)


def earlier(oldest: Position | None, source: Position) -> Position | None:
    """The oldest position in a record, if it is another than that of the newest failure."""
    return None if oldest is None or oldest is source or oldest[:3] == source[:3] else oldest


def of_the_record(record: Record, position: Position) -> Position:
    """The position with the timestamp of the record, where a family keeps that of the source (rule 9)."""
    return Position(*position[:3], record.timestamp_ms if record.timestamp_ms >= 0 else None)


def with_timestamp(oldest: Position | None, source: Position) -> Position | None:
    """No set carries its timestamp, but the record keeps that of the newest position."""
    return source if oldest is not None and oldest[:3] == source[:3] else oldest


@dataclass(frozen=True, eq=False)
class Named:
    """How the headers of a position are called, `timestamp` None where the family carries none; and where it is read.

    Which headers these are is worked out once for all records with the same names.
    """

    topic: str
    partition: str
    offset: str
    timestamp: str | None = None
    number: tuple[Number, Number, Number] = (decimal, decimal, decimal)
    """What decodes partition, offset and timestamp."""

    @property
    def names(self) -> tuple[str, ...]:
        told = (self.topic, self.partition, self.offset, self.timestamp)
        return tuple(name for name in told if name is not None)

    def newest(self, found: "Found") -> Position:
        """The first values of the newest set; an empty topic where it names none."""
        return found.position(self, found.layout.once(self._newest))

    def first(self, found: "Found") -> Position | None:
        """The position in the first set: of a family that appends, its oldest."""
        return _known(found.position(self, found.layout.once(self._first)))

    def last(self, found: "Found") -> Position | None:
        """The position in the last set: the oldest of a family that writes in front."""
        return _known(found.position(self, found.layout.once(self._last)))

    def own(self, found: "Found") -> Position:
        """The last values behind those of an older family, in whatever order they stand."""
        return found.position(self, found.layout.once(self._own))

    def whole(self, found: "Found") -> Position:
        """The last values of the whole record, in whatever order they stand."""
        return found.position(self, found.layout.once(self._whole))

    def only(self, found: "Found") -> Position | None:
        """The same, None without a topic: the oldest position of a family that replaces its headers."""
        return _known(self.whole(found))

    def places(self, names: Sequence[str], begin: int = 0, end: int | None = None, *, last: bool = False) -> Places:
        """Where the values stand, each the first (or the last) of its name from `begin` to before `end`."""
        places = range(begin, len(names) if end is None else end)
        at = {names[place]: place for place in (places if last else reversed(places))}
        found = [at.get(name, -1) for name in (self.topic, self.partition, self.offset)]
        return found[0], found[1], found[2], at.get(self.timestamp, -1) if self.timestamp is not None else -1

    def read(self, headers: Headers, places: Places) -> Position:
        topic, partition, offset, timestamp = places
        of_partition, of_offset, of_timestamp = self.number
        return Position(
            (text(headers[topic][1]) or "") if topic >= 0 else "",
            of_partition(headers[partition][1]) if partition >= 0 else None,
            of_offset(headers[offset][1]) if offset >= 0 else None,
            of_timestamp(headers[timestamp][1]) if timestamp >= 0 else None,
        )

    def _newest(self, layout: "Layout") -> Places:
        return self.places(layout.names, layout.cut if layout.begin is None else layout.begin)

    def _first(self, layout: "Layout") -> Places:
        return self.places(layout.names, layout.firsts.get(self.topic, len(layout.names)))

    def _last(self, layout: "Layout") -> Places:
        return self.places(layout.names, layout.lasts.get(self.topic, len(layout.names)))

    def _own(self, layout: "Layout") -> Places:
        return self.places(layout.names, layout.cut, last=True)

    def _whole(self, layout: "Layout") -> Places:
        return self.places(layout.names, last=True)


def named(
    prefix: str, number: tuple[Number, Number, Number] = (decimal, decimal, decimal), *, timed: bool = False
) -> Named:
    """`<prefix>topic`, `<prefix>partition`, `<prefix>offset` and, if `timed`, `<prefix>timestamp`."""
    return Named(
        f"{prefix}topic", f"{prefix}partition", f"{prefix}offset", f"{prefix}timestamp" if timed else None, number
    )


BINARY: tuple[Number, Number, Number] = (int32, int64, int64)
"""Big-endian, as Spring writes them."""


def _known(position: Position) -> Position | None:
    return position if position.topic else None
