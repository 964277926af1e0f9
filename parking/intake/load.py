"""Locks and loads what a batch touches: hold keys first, then quarantines, then events (the lock order of everyone).

Raw SQL: each step is one statement for the whole batch, with arrays instead of one query per row. What a batch of new
events does not need is not asked.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from operator import itemgetter
from typing import Any

from parking import error_group, storable
from parking.ask import array, ask, pairs
from parking.attempt import Attempt, ValidationError
from parking.event_id import bounded
from parking.intake.flows import FlowFacts
from parking.intake.rows import Answered, Failure, Ident, KeyIdent, Parked, Place, Row
from parking.intake.touched import Event, Ids, Key, Stop, Touched
from parking.models import ErrorGroup

MORE_IDS = 100

SQL_INSERT_KEYS = """
INSERT INTO parking_holdkey (flow_id, digest, key, last_token, highest_floor, released_position)
SELECT flow_id, digest, key, 0, 0, -1
FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[]) AS wanted (flow_id, digest, key)
ORDER BY flow_id, digest
ON CONFLICT (flow_id, digest) DO NOTHING
RETURNING id, flow_id, digest, highest_floor, released_position
"""
SQL_KEYS = """
SELECT k.id, k.flow_id, k.digest, k.highest_floor, k.released_position FROM parking_holdkey k
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, digest) USING (flow_id, digest)
ORDER BY k.flow_id, k.digest FOR NO KEY UPDATE OF k
"""
SQL_KEYS_OF_STOPS = """
SELECT k.id, k.flow_id, k.digest, k.highest_floor, k.released_position FROM parking_holdkey k
WHERE k.id IN (SELECT hold_key_id FROM parking_quarantine WHERE id = ANY(%s::bigint[])) AND NOT k.id = ANY(%s::bigint[])
ORDER BY k.flow_id, k.digest FOR NO KEY UPDATE OF k
"""
SQL_STOPS = """
SELECT id, hold_key_id, state, opened_at, last_at, poison, held, settled, last_position, oldest_at, released_at,
    ordered_partition, first_error
FROM parking_quarantine
WHERE (hold_key_id = ANY(%s::bigint[]) AND state <> 'released') OR id = ANY(%s::bigint[])
ORDER BY id FOR NO KEY UPDATE
"""
SQL_KNOWN = """
SELECT e.id, e.quarantine_id FROM parking_eventstate e
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, event_digest) USING (flow_id, event_digest)
"""
SQL_EVENTS = """
SELECT e.id, e.flow_id, e.event_digest, e.kind, e.state, e.quarantine_id, e.position, e.error_group_id, e.attempt_count,
    e.fate_token, e.fate_fingerprint, e.settled_at
FROM parking_eventstate e WHERE e.id = ANY(%s::bigint[]) ORDER BY e.id FOR NO KEY UPDATE
"""
SQL_ATTEMPTS = "SELECT event_state_id, token, number FROM parking_attempt WHERE event_state_id = ANY(%s::bigint[])"
SQL_EARLIER = """
SELECT o.flow_id, o.event_digest, o.id, o.outcome, o.token, o.fate_token, o.fingerprint, o.attempts
FROM parking_outcome o
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, event_digest) USING (flow_id, event_digest)
WHERE o.outcome IN ('applied', 'skipped', 'failed', 'held')
ORDER BY o.id
"""
SQL_STILL_HELD = """
SELECT o.flow_id, o.id, o.token, o.evidence -> 'still_held'
FROM parking_outcome o
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, hold_key_digest) USING (flow_id, hold_key_digest)
WHERE o.outcome = 'still-held'
"""
SQL_GROUPS = """
SELECT g.id, g.flow_id, g.digest FROM parking_errorgroup g
JOIN unnest(%s::bigint[], %s::bytea[]) AS wanted (flow_id, digest) USING (flow_id, digest)
"""
SQL_IDS = """
SELECT nextval(sequence) FROM (SELECT pg_get_serial_sequence(%s::text, 'id')::regclass OFFSET 0) AS named (sequence),
    generate_series(1, %s::int)
"""


def load(rows: Sequence[Row], nowhere: Set[Ident], now: datetime) -> Touched:
    """Everything that folding these rows needs, locked until the transaction ends. `nowhere`: not to be looked for."""
    flows = {row.flow.id: row.flow for row in rows}
    parked = [row for row in rows if isinstance(row, Parked)]
    answered = [row for row in rows if isinstance(row, Answered)]
    keys = _keys([*parked, *answered])
    wanted = _idents(parked, answered) - nowhere
    by_id = {key.id: key for key in keys.values()}
    known = ask(SQL_KNOWN, *pairs(wanted)) if wanted else []
    stops = _stops(by_id, {stop for _, stop in known if stop is not None})
    keys.update((key.ident, key) for key in by_id.values())
    events = _events([number for number, _ in known], stops)
    keys_of = {row.event: row.key for row in parked if row.event not in events}
    _known_attempts(events.values())
    earlier = _earlier(keys_of, flows)
    groups = _groups([*parked, *answered, *(answer for answers in earlier.values() for answer in answers)], now)
    return Touched(
        keys=keys,
        events=events,
        groups=groups,
        earlier=earlier,
        event_ids=_ids("parking_eventstate", len(keys_of) + len(rows) - len(parked) - len(answered)),
        stop_ids=_ids("parking_quarantine", sum(1 for key in keys.values() if key.quarantine is None)),
        stops=list(stops.values()),
    )


def _keys(rows: Iterable[Parked | Answered]) -> dict[KeyIdent, Key]:
    wanted = {row.key: row.hold_key for row in rows if row.key is not None}
    if not wanted:
        return {}
    found = _fetch_keys(wanted)
    missing = [ident for ident in wanted if ident not in found]
    if missing:
        made = ask(SQL_INSERT_KEYS, *pairs(missing), array("bytea", (wanted[ident] for ident in missing)))
        found.update((key.ident, key) for key in map(_key, made))
        found.update(_fetch_keys([ident for ident in missing if ident not in found]))
    return found


def _fetch_keys(wanted: Collection[KeyIdent]) -> dict[KeyIdent, Key]:
    return {key.ident: key for key in map(_key, ask(SQL_KEYS, *pairs(wanted)))} if wanted else {}


def _key(row: Sequence[Any]) -> Key:
    return Key(row[0], KeyIdent(row[1], row[2]), row[3], row[4])


def _stops(keys: dict[int, Key], of_events: Collection[int]) -> dict[int, Stop]:
    """The quarantines of these keys that are not released, and these others; adds the keys that those have."""
    if of_events:
        others = map(_key, ask(SQL_KEYS_OF_STOPS, array("int8", of_events), array("int8", keys)))
        keys.update((key.id, key) for key in others)
    found: dict[int, Stop] = {}
    for number, key_id, state, *rest in ask(SQL_STOPS, array("int8", keys), array("int8", of_events)) if keys else []:
        stop = found[number] = Stop(number, keys[key_id], state, *rest)
        if state != "released":
            stop.key.quarantine = stop
    return found


def _idents(parked: Iterable[Parked], answered: Iterable[Answered]) -> set[Ident]:
    wanted = {row.event for row in parked}
    wanted.update(row.event for row in answered if row.event is not None)
    return wanted.union(*(row.still_held for row in answered))


def _events(ids: Sequence[int], stops: dict[int, Stop]) -> dict[Ident, Event]:
    found = {}
    for number, flow, digest, kind, state, stop, *rest in ask(SQL_EVENTS, array("int8", ids)) if ids else []:
        event = Event(number, Ident(flow, digest), kind, state, stops.get(stop), *rest)
        found[event.ident] = event
    return found


def _known_attempts(events: Collection[Event]) -> None:
    by_id = {event.id: event for event in events}
    for event_id, token, number in ask(SQL_ATTEMPTS, array("int8", by_id)) if by_id else []:
        by_id[event_id].known_attempts.add((token, number))


def _earlier(keys: Mapping[Ident, KeyIdent], flows: dict[int, FlowFacts]) -> dict[Ident, list[Answered]]:
    """The answers about these events, oldest first: they are announced only now. `keys`: of each event."""
    found: dict[Ident, list[tuple[int, Answered]]] = {}
    for flow, digest, number, *rest in ask(SQL_EARLIER, *pairs(keys)) if keys else []:
        ident = Ident(flow, digest)
        found.setdefault(ident, []).append((number, _answered(flows[flow], ident, rest)))
    for ident, number, token in _still_held({keys[ident] for ident in found}) if found else ():
        if ident in found:
            found[ident].append((number, _answered(flows[ident.flow], ident, ("still-held", token, None, None, ()))))
    return {ident: [answer for _, answer in sorted(pairs, key=itemgetter(0))] for ident, pairs in found.items()}


def _still_held(keys: Collection[KeyIdent]) -> Iterator[tuple[Ident, int, int | None]]:
    """Each event that a `still-held` of these keys names, with the answer's number and token."""
    for flow, number, token, listed in ask(SQL_STILL_HELD, *pairs(keys)):
        named = listed
        for one in named if isinstance(named, list) else ():
            if isinstance(one, dict) and isinstance(event_id := one.get("event_id"), str):
                digest = hashlib.sha256(bounded(event_id).encode("utf-8", "surrogatepass")).digest()
                yield Ident(flow, digest), number, token


def _answered(flow: FlowFacts, ident: Ident, columns: Sequence[Any]) -> Answered:
    """An answer as it was stored, for an event that is announced only now."""
    outcome, token, fate_token, fingerprint, attempts = columns
    failures = tuple(Failure(tried.number, tried) for tried in map(_attempt, attempts))
    last = failures[-1].attempt if failures else None
    return Answered(
        place=Place(0, 0, 0),
        content=b"",
        flow=flow,
        outcome=outcome,
        event=ident,
        token=token,
        fate_token=fate_token,
        fingerprint=fingerprint or None,
        failures=failures,
        group=error_group.group(last.error_type, last.message, last.stacktrace) if last else None,
    )


def _attempt(members: dict[str, Any]) -> Attempt:
    errors = tuple(ValidationError(**error) for error in members.pop("validation_errors"))
    return Attempt(**members, validation_errors=errors)


def _groups(rows: Iterable[Parked | Answered], now: datetime) -> dict[tuple[int, bytes], int]:
    wanted: dict[tuple[int, bytes], ErrorGroup] = {}
    for row in rows:
        if row.group is not None and (place := (row.flow.id, row.group.digest)) not in wanted:
            wanted[place] = _group(row, now)
    if not wanted:
        return {}
    found = _fetch_groups(wanted)
    missing = sorted(place for place in wanted if place not in found)
    if missing:
        ErrorGroup.objects.bulk_create([wanted[place] for place in missing], ignore_conflicts=True)
        found = _fetch_groups(wanted)
    return found


def _fetch_groups(wanted: Collection[tuple[int, bytes]]) -> dict[tuple[int, bytes], int]:
    return {(flow, digest): number for number, flow, digest in ask(SQL_GROUPS, *pairs(wanted))}


def _group(row: Parked | Answered, now: datetime) -> ErrorGroup:
    assert row.group is not None
    return ErrorGroup(
        flow_id=row.flow.id,
        digest=row.group.digest,
        error_type=storable.text(row.group.error_type, 500),
        pattern=storable.text(row.group.pattern),
        sample=storable.text(row.failures[-1].attempt.message, 2000),
        first_seen=now,
        last_seen=now,
    )


def _ids(table: str, expected: int) -> Ids:
    return Ids(_given_out(table, expected))


def _given_out(table: str, expected: int) -> Iterator[int]:
    """Ids from the sequence of a table: as many as are expected at once, and more where they do not do."""
    while True:
        for (number,) in ask(SQL_IDS, table, expected) if expected else ():
            yield number
        expected = MORE_IDS
