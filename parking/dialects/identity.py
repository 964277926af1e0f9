"""Which event a dead letter is, when its consumer keeps no ledger that would say so.

A replay to a plain topic gives a record a new place, so it carries our event id and token along. Consumers copy the
headers that they were given into the dead letter: by these the same event joins its own history when it fails again.
"""

from typing import TYPE_CHECKING

from parking import event_id
from parking.coordinates import Coordinates
from parking.dialects.origin import Position
from parking.dialects.values import decimal, first
from parking.record import Headers, Record
from parking.wire import names

if TYPE_CHECKING:
    from parking.dialects.family import Found
    from parking.dialects.layout import Layout

CARRIED = (names.EVENT_ID, names.REPLAY_ID, names.TOKEN, names.SOURCE_TIMESTAMP)
"""What a replay to a plain topic adds behind the event's own headers."""


def carried(found: "Found") -> str | None:
    """The id that a replay of ours gave it."""
    value = found.last(names.EVENT_ID)
    try:
        return event_id.bounded(value.decode("utf-8")) if value else None
    except UnicodeDecodeError:
        return None


def token(found: "Found") -> int | None:
    """The token of the replay whose try failed, of a record that is `carried`."""
    return decimal(found.last(names.TOKEN))


def of(found: "Found", oldest: Position | None, headers: Headers | None) -> str:
    """The id by the id headers, else the place of its first failure.

    `headers` are those that the consumer had been given, None where they are among the record's own; `oldest` is the
    oldest position in the record, which stays when the record is redriven with all its headers and fails again.
    """
    said = _said(found) if headers is None else event_id.named(lambda name: first(headers, name))
    return event_id.bounded(said or str(_place(found.record, oldest)))


def _said(found: "Found") -> str | None:
    places, headers = found.layout.once(_places), found.record.headers
    return event_id.named({name: headers[place][1] for name, place in places}.get) if places else None


def _places(layout: "Layout") -> tuple[tuple[str, int], ...]:
    """The id headers and where the first of each stands, of those that a replay sends."""
    original = range(len(layout.names)) if layout.original is None else layout.original
    places = {layout.names[place]: place for place in reversed(original) if layout.names[place] in event_id.NAMES}
    return tuple(places.items())


def _place(record: Record, oldest: Position | None) -> Coordinates:
    if oldest is None or not oldest.topic or oldest.partition is None or oldest.offset is None:
        return record.coordinates
    timestamp = -1 if oldest.timestamp_ms is None else oldest.timestamp_ms
    return Coordinates(oldest.topic, oldest.partition, oldest.offset, timestamp)
