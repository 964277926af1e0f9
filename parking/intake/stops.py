"""What arrives changes the quarantines: opened, filled in their order, released. Pure, in memory (see `fold`).

Positions are what the consumer's ledger assigned; without a gate the source offset, as long as all of a key comes from
one source partition, else the order of parking.
"""

from datetime import datetime

from parking import storable
from parking.intake.rows import Parked
from parking.intake.touched import Event, Key, Note, Stop, Touched
from parking.states import QUARANTINE, allowed


def open_for(touched: Touched, key: Key, row: Parked) -> Stop:
    """A quarantine of the key, which this event opens."""
    at = row.columns.parked_at
    stop = Stop(touched.stop_ids.next(), key, "open", opened_at=at, last_at=at, new=True)
    if row.position is None:
        stop.ordered_partition = _partition(row)
    touched.stops.append(stop)
    key.quarantine = stop
    return stop


def open_again(touched: Touched, released: Stop) -> Stop:
    """The key's next quarantine, for an event of one that was released."""
    stop = Stop(touched.stop_ids.next(), released.key, "open", opened_at=released.last_at, last_at=released.last_at)
    stop.new, stop.first_error = True, released.first_error
    stop.ordered_partition = released.ordered_partition
    touched.stops.append(stop)
    released.key.quarantine = stop
    return stop


def add(stop: Stop, event: Event, position: int, at: datetime) -> None:
    """Put an unsettled event into its place."""
    event.stop, event.position = stop, position
    if stop.depth == 0:
        stop.oldest_at = at
    elif position < stop.last_position:
        stop.look_again = True
    stop.last_position = max(stop.last_position, position)
    stop.last_at = max(stop.last_at, at)
    if event.kind == "poison":
        stop.poison += 1
    else:
        stop.held += 1
    stop.changed = True
    if event.row is not None:
        stop.arrivals.append(event)


def failed(stop: Stop, row: Parked) -> None:
    """The first failure is what a quarantine is shown by."""
    if not stop.first_error:
        kind, message = row.columns.error_type, row.columns.error_message
        stop.first_error = storable.text(f"{kind}: {message}" if message else kind, 500)


def uncount(event: Event) -> None:
    """It waits no longer."""
    if event.stop is not None and event.kind == "poison":
        event.stop.poison -= 1
    elif event.stop is not None:
        event.stop.held -= 1


def place_of(stop: Stop, row: Parked) -> int:
    """Without a ledger: the source offset while all come from one source partition, else the order of parking."""
    offset = row.columns.source_offset
    if stop.ordered_partition is not None and offset is not None and _partition(row) == stop.ordered_partition:
        return offset
    if stop.ordered_partition is not None:
        _order_by_arrival(stop)
    return stop.last_position + 1


def _partition(row: Parked) -> int | None:
    """The partition of the flow's source topic whose offsets may order the key; None where the record names none."""
    columns = row.columns
    ordered = columns.source_topic == row.flow.source_topic and columns.source_offset is not None
    return columns.source_partition if ordered else None


def _order_by_arrival(stop: Stop) -> None:
    """Number everything anew, beyond the old numbers: `write` does it for what is stored already."""
    stored = stop.depth + stop.settled - len(stop.arrivals)
    stop.renumber_from = stop.last_position + 1
    for place, event in enumerate(stop.arrivals):
        event.position = stop.renumber_from + stored + place
    stop.last_position += stored + len(stop.arrivals)
    stop.ordered_partition = None
    stop.changed = True


def release(touched: Touched, key: Key, now: datetime) -> None:
    """The key's quarantine is released if the consumer has said so beyond all of it, and nothing of it waits."""
    stop = key.quarantine
    if stop is None or stop.depth or key.released_position <= stop.last_position:
        return
    if not allowed(QUARANTINE, stop.state, "released"):
        return
    stop.state, stop.released_at, stop.changed = "released", now, True
    stop.oldest_at, stop.look_again = None, False
    key.quarantine = None
    touched.notes.append(
        Note("released", key.ident.flow, stop.id, reason="The consumer released the key.",
             detail={"released_position": key.released_position, "settled": stop.settled})
    )  # fmt: skip


def place_again(stop: Stop, before: Stop, event: Event, gated: bool) -> int:
    """Its first position where that means the same in this quarantine: of the ledger, or an offset of one partition."""
    same_order = stop.ordered_partition is not None and stop.ordered_partition == before.ordered_partition
    if event.position is not None and (gated or stop is before or same_order):
        return event.position
    if stop.ordered_partition is not None:
        _order_by_arrival(stop)
    return stop.last_position + 1
