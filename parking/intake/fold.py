"""The rules of DESIGN sections 3 and 4 for what arrives, applied record by record to what is in memory. Pure.

Facts settle events, whoever caused them and whichever came first. A quarantine is released when the highest position
that the consumer ever released exceeds every position in it and all its events are settled; this is looked at after
each record, so that the result does not depend on how records fall into batches.
"""

from collections.abc import Iterable
from datetime import datetime

from parking.intake import stops
from parking.intake.rows import Answered, Failure, Parked, Row, Unplaced, Waiting
from parking.intake.touched import Alert, Event, Key, Note, Stop, Touched
from parking.states import EVENT, allowed

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
        touched.records.append((*row.place, row.content, event_id))


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
    stops.release(touched, key, now)
    return event.id


def _new_event(touched: Touched, key: Key, row: Parked) -> Event:
    stop = key.quarantine or stops.open_for(touched, key, row)
    event = Event(touched.event_ids.next(), row.event, row.kind, "parked", row=row)
    touched.events[row.event] = event
    position = stops.place_of(stop, row) if row.position is None else row.position
    stops.add(stop, event, position, row.columns.parked_at)
    if row.kind == "poison":
        stops.failed(stop, row)
    _tried(touched, event, row.failures, token=row.token, group=_group(touched, row))
    _count(touched, row.flow.id, row.kind)
    return event


def _keep(touched: Touched, row: Unplaced) -> int:
    event = Event(touched.event_ids.next(), row.event, row.kind, "parked", row=row)
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
    if fresh and group is not None:
        touched.seen.add(group)
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
        stops.release(touched, key, now)
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
    stops.uncount(event)
    event.state = row.outcome
    event.fate_token = row.fate_token or 0
    event.fate_fingerprint = row.fingerprint
    event.settled_at = now
    event.changed = True
    if event.stop is not None:
        event.stop.settled += 1
        event.stop.look_again = event.stop.changed = True
        stops.release(touched, event.stop.key, now)


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
        stop = stop.key.quarantine or stops.open_again(touched, stop)
    stops.add(stop, event, stops.place_again(stop, released, event, gated), stop.last_at)
    stop.look_again = True
    touched.notes.append(Note("returned", event.ident.flow, stop.id, event.id, reason, detail))
    touched.alerts.add(Alert("back-to-parked", event.ident.flow, str(stop.id), reason))


# Counts


def _group(touched: Touched, row: Parked) -> int | None:
    return touched.groups.get((row.flow.id, row.group.digest)) if row.group else None


def _count(touched: Touched, flow: int, kind: str) -> None:
    touched.counts[flow, kind] = touched.counts.get((flow, kind), 0) + 1
