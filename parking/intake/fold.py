"""The rules of DESIGN sections 3 and 4 for what arrives, applied record by record to what is in memory. Pure.

Facts settle events, whoever caused them and whichever came first. A quarantine is released when the highest position
that the consumer ever released exceeds every position in it and all its events are settled; this is looked at after
each record, so that the result does not depend on how records fall into batches.
"""

from collections.abc import Iterable
from datetime import datetime

from parking import storable
from parking.intake.rows import Answered, Failure, Parked, Row, Unplaced, Waiting
from parking.intake.touched import Alert, Event, Key, Note, Stop, Touched
from parking.states import EVENT, QUARANTINE, allowed

FACTS = ("applied", "skipped")
FORGED = "The consumer refused a replay record with a missing or wrong signature: somebody else writes to the topic."
LARGEST_COUNT = 2**31 - 1


def fold(rows: Iterable[Row], touched: Touched, now: datetime) -> None:
    """Apply the rows in their order; `now` is when events are settled and quarantines released."""
    for row in rows:
        event_id: int | None
        if isinstance(row, Parked):
            event_id = _park(touched, row, now)
        elif isinstance(row, Answered):
            event_id = _answer(touched, row, now)
        elif isinstance(row, Waiting):
            event_id = None
        else:
            event_id = _keep(touched, row)
        touched.records.append((row.place, row.content, event_id))


# Events


def _park(touched: Touched, row: Parked, now: datetime) -> int:
    key = touched.keys[row.key]
    event = touched.events.get(row.event)
    if event is None:
        event = _new_event(touched, key, row)
        for answer in touched.earlier.get(row.event, ()):
            _apply(touched, event, answer, now)
    else:
        _tried(touched, event, row.failures, token=row.token, group=_group(touched, row))
        if row.kind == "poison":
            _poisoned(event)
        if not row.flow.gated:
            _failed_after_all(touched, event, row)
    _release(touched, key, now)
    return event.id


def _new_event(touched: Touched, key: Key, row: Parked) -> Event:
    stop = key.quarantine or _open(touched, key, row)
    event = Event(
        id=touched.event_ids.next(),
        ident=row.event,
        kind=row.kind,
        state="parked",
        columns=row.columns,
        place=row.place,
        cluster_id=row.flow.cluster_id,
        new=True,
    )
    touched.events[row.event] = event
    position = _by_offset_or_arrival(stop, row) if row.position is None else row.position
    _add(stop, event, position, row.columns.parked_at)
    if row.kind == "poison" and not stop.first_error:
        stop.first_error = _first_error(row)
    _tried(touched, event, row.failures, token=row.token, group=_group(touched, row))
    _count(touched, row.flow.id, row.kind)
    return event


def _keep(touched: Touched, row: Unplaced) -> int:
    event = Event(
        id=touched.event_ids.next(),
        ident=row.event,
        kind=row.kind,
        state="parked",
        columns=row.columns,
        place=row.place,
        cluster_id=row.flow.cluster_id,
        new=True,
    )
    touched.events[row.event] = event
    _count(touched, row.flow.id, "other")
    return event.id


def _tried(touched: Touched, event: Event, failures: tuple[Failure, ...], *, token: int, group: int | None) -> None:
    """Each (event, token, number) is one attempt however often it arrives."""
    fresh = False
    for failure in failures:
        number = event.attempt_count + 1 if failure.number is None else failure.number
        if (token, number) not in event.known_attempts:
            event.known_attempts.add((token, number))
            event.attempts.append((token, number, failure))
            event.attempt_count = min(max(event.attempt_count, number), LARGEST_COUNT)
            event.changed = fresh = True
    if fresh and group != event.group:
        _move_group(touched, event, group)


def _move_group(touched: Touched, event: Event, group: int | None) -> None:
    for moved, by in ((event.group, -1), (group, 1)):
        if moved is not None:
            touched.group_counts[moved] = touched.group_counts.get(moved, 0) + by
    if group is not None:
        touched.joined.append(group)
    event.group = group


def _poisoned(event: Event) -> None:
    """A held event that fails is poison from then on."""
    if event.kind != "held":
        return
    event.kind = "poison"
    event.changed = True
    if event.state == "parked" and event.stop is not None:
        event.stop.held -= 1
        event.stop.poison += 1
        event.stop.changed = True


# Answers


def _answer(touched: Touched, row: Answered, now: datetime) -> int | None:
    key = touched.keys[row.key] if row.key else None
    if key is not None:
        _told(key, row)
    event = touched.events.get(row.event) if row.event else None
    if event is not None:
        _apply(touched, event, row, now)
    elif row.event is not None:
        touched.earlier.setdefault(row.event, []).append(row)
    if row.outcome == "refused" and row.token is None and "signature" in str((row.evidence or {}).get("reason")):
        touched.alerts.add(Alert("refused-signature", row.flow.id, row.flow.name, FORGED))
    if row.outcome == "still-held":
        for ident in row.still_held:
            named = touched.events.get(ident)
            if named is not None:
                _return(touched, named, row)
            else:
                touched.earlier.setdefault(ident, []).append(row)
    if key is not None:
        _release(touched, key, now)
    return event.id if event else None


def _told(key: Key, row: Answered) -> None:
    if row.floor is not None and row.floor > key.highest_floor:
        key.highest_floor, key.changed = row.floor, True
    if row.outcome == "released" and row.position is not None and row.position > key.released_position:
        key.released_position, key.changed = row.position, True


def _apply(touched: Touched, event: Event, row: Answered, now: datetime) -> None:
    if row.outcome in FACTS:
        _settle(touched, event, row, now)
    elif row.outcome == "failed":
        group = touched.groups.get((row.flow.id, row.group.digest)) if row.group else None
        _tried(touched, event, row.failures, token=row.token or 0, group=group)
        _poisoned(event)
    elif row.outcome in ("held", "still-held"):
        _return(touched, event, row)


def _settle(touched: Touched, event: Event, row: Answered, now: datetime) -> None:
    if not allowed(EVENT, event.state, row.outcome):
        return
    _uncount(event)
    event.state = row.outcome
    event.fate_token = row.fate_token or 0
    event.fate_fingerprint = row.fingerprint
    event.settled_at = now
    event.changed = True
    if event.stop is not None:
        event.stop.settled += 1
        event.stop.look_again = event.stop.changed = True
        _release(touched, event.stop.key, now)


def _return(touched: Touched, event: Event, row: Answered) -> None:
    """Back to parked: the consumer holds what it had settled, so its ledger, and the effect, are of an older time."""
    if event.state == "parked" or (row.token or 0) <= (event.fate_token or 0) or event.stop is None:
        return
    was = event.state
    reason = f"The consumer answered that it holds an event that was {was}: its ledger was restored to an older time."
    _back(touched, event, event.stop, reason, {"outcome": row.outcome, "token": row.token}, gated=True)


def _failed_after_all(touched: Touched, event: Event, row: Parked) -> None:
    """Back to parked: without a gate `applied` was only inferred, and now its consumer has parked it again."""
    if event.state != "applied" or event.stop is None:
        return
    reason = (
        "The event was parked again after it was believed to be applied (its consumer has no gate that would say so): "
        "what the flow says of how late a failure may be parked is too short."
    )
    _back(touched, event, event.stop, reason, {"token": row.token, "believed_of": event.fate_token}, gated=False)


def _back(
    touched: Touched, event: Event, stop: Stop, reason: str, detail: dict[str, int | str | None], *, gated: bool
) -> None:
    """`applied | skipped → parked`, in its quarantine, or in the key's next one where that was released."""
    stop.settled -= 1
    stop.changed = True
    event.state = "parked"
    event.fate_token = event.fate_fingerprint = event.settled_at = None
    event.changed = True
    released = stop
    if stop.state == "released":
        stop = stop.key.quarantine or _open_again(touched, stop)
    _add(stop, event, _place_in(stop, released, event, gated), stop.last_at)
    stop.look_again = True
    touched.notes.append(Note("returned", event.ident.flow, stop.id, event.id, reason, detail))
    touched.alerts.add(Alert("back-to-parked", event.ident.flow, str(stop.id), reason))


def _place_in(stop: Stop, before: Stop, event: Event, gated: bool) -> int:
    """Its first position where that means the same in this quarantine: of the ledger, or an offset of one partition."""
    same_order = stop.ordered_partition is not None and stop.ordered_partition == before.ordered_partition
    if event.position is not None and (gated or stop is before or same_order):
        return event.position
    if stop.ordered_partition is not None:
        _order_by_arrival(stop)
    return stop.last_position + 1


# Quarantines


def _open(touched: Touched, key: Key, row: Parked) -> Stop:
    at = row.columns.parked_at
    stop = Stop(touched.stop_ids.next(), key, "open", opened_at=at, last_at=at, new=True)
    if row.position is None:
        stop.ordered_partition = _partition(row)
    touched.stops.append(stop)
    key.quarantine = stop
    return stop


def _open_again(touched: Touched, released: Stop) -> Stop:
    stop = Stop(touched.stop_ids.next(), released.key, "open", opened_at=released.last_at, last_at=released.last_at)
    stop.new, stop.first_error = True, released.first_error
    stop.ordered_partition = released.ordered_partition
    touched.stops.append(stop)
    released.key.quarantine = stop
    return stop


def _add(stop: Stop, event: Event, position: int, at: datetime) -> None:
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
    if event.new:
        stop.arrivals.append(event)


def _uncount(event: Event) -> None:
    if event.stop is not None and event.kind == "poison":
        event.stop.poison -= 1
    elif event.stop is not None:
        event.stop.held -= 1


def _by_offset_or_arrival(stop: Stop, row: Parked) -> int:
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


def _release(touched: Touched, key: Key, now: datetime) -> None:
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


def _group(touched: Touched, row: Parked) -> int | None:
    return touched.groups.get((row.flow.id, row.group.digest)) if row.group else None


def _first_error(row: Parked) -> str:
    kind, message = row.columns.error_type, row.columns.error_message
    return storable.text(f"{kind}: {message}" if message else kind, 500)


def _count(touched: Touched, flow: int, kind: str) -> None:
    touched.counts[flow, kind] = touched.counts.get((flow, kind), 0) + 1
