"""Which event a dead letter is, when its consumer keeps no ledger that would say so.

A replay to a plain topic gives a record a new place, so it carries our event id and token along. Consumers copy the
headers that they were given into the dead letter: by these the same event joins its own history when it fails again.
"""

from parking import event_id
from parking.coordinates import Coordinates
from parking.dialects.origin import Position
from parking.dialects.values import decimal, last
from parking.record import Headers, Record
from parking.wire import names

ASKED = frozenset(("event-id", "ce_source", names.EVENT_ID))
"""Headers that may say which event it is; a record without any of them is known by its place."""

CARRIED = (names.EVENT_ID, names.REPLAY_ID, names.TOKEN, names.SOURCE_TIMESTAMP)
"""What a replay to a plain topic adds behind the event's own headers."""


def of(record: Record, original: Headers, oldest: Position | None) -> str:
    """The id that a replay of ours gave it, else by the id headers, else the place of its first failure.

    `original` are the headers that the consumer had been given; `oldest` is the oldest position in the record, which
    stays when the record is redriven with all its headers and fails again.
    """
    carried = _carried(record)
    if carried:
        return event_id.bounded(carried)
    at = _place(record, oldest)
    return event_id.event_id(Record(at.topic, at.partition, at.offset, at.timestamp_ms, None, None, original))


def by_place(record: Record, oldest: Position | None) -> str:
    """The id of a record that has none of the ASKED headers: as `of` would say, faster."""
    return event_id.bounded(str(_place(record, oldest)))


def _place(record: Record, oldest: Position | None) -> Coordinates:
    if oldest is None or not oldest.topic or oldest.partition is None or oldest.offset is None:
        return record.coordinates
    timestamp = -1 if oldest.timestamp_ms is None else oldest.timestamp_ms
    return Coordinates(oldest.topic, oldest.partition, oldest.offset, timestamp)


def token(record: Record) -> int | None:
    """The token of the replay whose try failed; None for a failure of the live flow."""
    return decimal(last(record.headers, names.TOKEN)) if _carried(record) else None


def _carried(record: Record) -> str | None:
    value = last(record.headers, names.EVENT_ID)
    try:
        return value.decode("utf-8") if value else None
    except UnicodeDecodeError:
        return None
