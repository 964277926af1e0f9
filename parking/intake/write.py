"""Stores what folding changed: new rows by binary COPY, changed ones by one UPDATE per table."""

from collections.abc import Iterable
from dataclasses import astuple
from datetime import datetime
from operator import attrgetter
from typing import Any

from parking import alarms, journal, storable
from parking.actor import system
from parking.ask import array, ask, moment
from parking.attempt import Attempt
from parking.intake import group_days, tables
from parking.intake.rows import Answered, Columns, Parked, Row, Unplaced
from parking.intake.touched import Event, Stop, Touched
from parking.models import Flow

INTAKE = system("intake")
NONE_WRONG = tables.jsonb([])
"""No validation errors, as most attempts have."""

SQL_RENUMBER = """
UPDATE parking_eventstate e SET position = numbered.position
FROM (SELECT id, %s::bigint + row_number() OVER (ORDER BY id) - 1 AS position
      FROM parking_eventstate WHERE quarantine_id = %s) AS numbered
WHERE e.id = numbered.id
"""
SQL_HEADS = """
UPDATE parking_quarantine q SET oldest_at = (
    SELECT p.parked_at FROM parking_eventstate e
    JOIN parking_parkedevent p ON p.id = e.id AND p.stored_at = e.stored_at
    WHERE e.quarantine_id = q.id AND e.state = 'parked' ORDER BY e.position LIMIT 1
)
WHERE q.id = ANY(%s::bigint[])
"""
SQL_ROLLUP = """
INSERT INTO parking_rollup AS r (flow_id, minute, poison, held, other)
SELECT flow_id, %s, poison, held, other
FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::int[]) AS counted (flow_id, poison, held, other)
ORDER BY flow_id
ON CONFLICT (flow_id, minute) DO UPDATE
SET poison = r.poison + excluded.poison, held = r.held + excluded.held, other = r.other + excluded.other
"""
SQL_KEYS = """
UPDATE parking_holdkey k SET highest_floor = new.highest_floor, released_position = new.released_position
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS new (id, highest_floor, released_position) WHERE k.id = new.id
"""
SQL_GROUPS = """
UPDATE parking_errorgroup g SET event_count = g.event_count + counted.by,
    last_seen = CASE WHEN counted.seen > 0 THEN greatest(g.last_seen, %s) ELSE g.last_seen END
FROM (
    SELECT id, by, seen FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS given (id, by, seen) ORDER BY id
) AS counted
WHERE g.id = counted.id
"""


def write(touched: Touched, rows: Iterable[Row], now: datetime) -> None:
    """Everything in the caller's transaction; the journal last."""
    _write_keys(touched)
    _write_stops(touched.stops)
    _write_changed_events(touched)
    _renumber(touched.stops)
    _write_new_events(touched, now)
    tables.copy(tables.OUTCOME, [_outcome(row, now) for row in rows if isinstance(row, Answered)])
    tables.copy(tables.PARKED_RECORD, touched.records)
    heads = [stop.id for stop in touched.stops if stop.look_again and stop.state != "released"]
    if heads:
        ask(SQL_HEADS, array("int8", heads))
    _count(touched, now)
    _alert(touched)
    _note(touched)


def _write_keys(touched: Touched) -> None:
    changed = [key for key in touched.keys.values() if key.changed]
    if changed:
        floors, released = [key.highest_floor for key in changed], [key.released_position for key in changed]
        ask(SQL_KEYS, *(array("int8", column) for column in ([key.id for key in changed], floors, released)))


def _write_stops(stops: list[Stop]) -> None:
    """Released ones first: a key may have one that is not."""
    changed = sorted((stop for stop in stops if stop.changed), key=lambda stop: (stop.state != "released", stop.id))
    tables.update(tables.CHANGED_QUARANTINE, [_changed_stop(stop) for stop in changed if not stop.new])
    tables.copy(tables.QUARANTINE, [_stop(stop) for stop in changed if stop.new])


def _changed_stop(stop: Stop) -> tuple[Any, ...]:
    return (
        stop.id, stop.state, stop.poison, stop.held, stop.settled, stop.depth.bit_length(), stop.last_position,
        stop.oldest_at, stop.last_at, stop.released_at, stop.ordered_partition, stop.first_error,
    )  # fmt: skip


def _stop(stop: Stop) -> tuple[Any, ...]:
    return (
        stop.id, stop.key.id, stop.key.ident.flow, stop.state, stop.poison, stop.held, stop.settled,
        stop.depth.bit_length(), stop.last_position, stop.opened_at, stop.oldest_at, stop.last_at, stop.released_at,
        stop.ordered_partition, stop.first_error,
    )  # fmt: skip


def _write_changed_events(touched: Touched) -> None:
    changed = [event for event in touched.events.values() if event.changed and event.row is None]
    tables.update(tables.CHANGED_STATE, [_changed(event) for event in sorted(changed, key=lambda event: event.id)])


def _renumber(stops: list[Stop]) -> None:
    """After the changed rows, which still have their old positions, and before the new ones, which have theirs."""
    for stop in stops:
        if stop.renumber_from is not None and not stop.new:
            ask(SQL_RENUMBER, stop.renumber_from, stop.id)


def _write_new_events(touched: Touched, now: datetime) -> None:
    events = sorted(touched.events.values(), key=attrgetter("id"))
    new = [(event, event.row) for event in events if event.row is not None]
    at = moment(now)
    tables.copy(tables.EVENT_STATE, [_state(event, at) for event, _ in new])
    tables.copy(tables.PARKED_EVENT, [_parked(event.id, row, at) for event, row in new])
    tables.copy(tables.PAYLOAD, [_payload(event.id, row.columns, at) for event, row in new])
    tried = [(event.id, token, number, f) for event in events for token, number, f in event.attempts]
    tables.copy(
        tables.ATTEMPT, [_attempt(event, token, number, f.attempt, f.evidence) for event, token, number, f in tried]
    )


def _state(event: Event, at: int) -> tuple[Any, ...]:
    return (
        event.id, event.ident.flow, event.ident.digest, at, event.stop.id if event.stop else None, event.position,
        event.kind, event.state, event.group, event.attempt_count, event.fate_token, event.fate_fingerprint,
        event.settled_at,
    )  # fmt: skip


def _changed(event: Event) -> tuple[Any, ...]:
    return (
        event.id, event.stop.id if event.stop else None, event.position, event.kind, event.state, event.group,
        event.attempt_count, event.fate_token, event.fate_fingerprint, event.settled_at,
    )  # fmt: skip


def _parked(event: int, row: Parked | Unplaced, at: int) -> tuple[Any, ...]:
    columns, place = row.columns, row.place
    return (
        event, at, row.flow.cluster_id, columns.dialect, columns.event_id, columns.event_id_bytes, columns.event_type,
        columns.parking_topic, place.partition, place.offset, columns.parked_at, columns.source_topic,
        columns.source_partition, columns.source_offset, columns.source_at, columns.consumer_group, columns.fingerprint,
        columns.error_type, columns.error_message, columns.blocked_by, columns.unreadable_reason, columns.not_original,
    )  # fmt: skip


def _payload(event: int, columns: Columns, at: int) -> tuple[Any, ...]:
    return (event, at, columns.key, columns.value, columns.headers, columns.raw_headers, columns.wrapped)


def _attempt(event: int, token: int, number: int, attempt: Attempt, evidence: dict[str, Any] | None) -> tuple[Any, ...]:
    return (
        event, token, number, tables.moment_of(attempt.at), storable.text(attempt.error_type, 1000),
        storable.text(attempt.message, 20_000), storable.text(attempt.stacktrace, 200_000),
        _wrong(attempt) if attempt.validation_errors else NONE_WRONG,
        attempt.retryable, None if evidence is None else tables.jsonb(evidence),
    )  # fmt: skip


def _wrong(attempt: Attempt) -> bytes:
    return tables.jsonb([
        {name: storable.text(getattr(error, name), 5000) for name in ("path", "expected", "actual", "hint")}
        for error in attempt.validation_errors[:1000]
    ])  # fmt: skip


def _outcome(row: Answered, now: datetime) -> tuple[Any, ...]:
    return (
        row.flow.id, *row.place, row.key.digest if row.key else b"", row.event.digest if row.event else None,
        row.outcome, row.token, row.replay_id, row.fate_token, row.fingerprint, row.position,
        tables.jsonb(row.attempts_json), None if row.evidence is None else tables.jsonb(row.evidence), now,
    )  # fmt: skip


def _count(touched: Touched, now: datetime) -> None:
    flows = sorted({flow for flow, _ in touched.counts})
    if flows:
        counts = [[touched.counts.get((flow, kind), 0) for flow in flows] for kind in ("poison", "held", "other")]
        arrays = (array("int4", column) for column in counts)
        ask(SQL_ROLLUP, now.replace(second=0, microsecond=0), array("int8", flows), *arrays)
    groups = dict.fromkeys(touched.seen, 0) | {group: by for group, by in touched.group_counts.items() if by}
    if groups:
        seen = [int(group in touched.seen) for group in groups]
        ask(SQL_GROUPS, now, array("int8", groups), *(array("int4", column) for column in (groups.values(), seen)))
    group_days.count(touched, now)


def _alert(touched: Touched) -> None:
    for alert in sorted(touched.alerts, key=astuple):
        flow = Flow.objects.get(pk=alert.flow)
        alarms.open_incident(kind=alert.kind, flow=flow, key=alert.key, summary=alert.summary)


def _note(touched: Touched) -> None:
    for note in touched.notes:
        journal.write(
            actor=INTAKE,
            verb=note.verb,
            flow=Flow(pk=note.flow),
            quarantine_id=note.quarantine,
            event_id=note.event,
            reason=note.reason,
            detail=dict(note.detail),
        )
