"""A record as it arrived → the row it becomes. Pure, never raises: what cannot be read is `broken`, with the reason."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from parking import error_group, storable
from parking.attempt import Attempt
from parking.dialects import UNATTRIBUTED, Reading, Unreadable, identify
from parking.dialects.reading import RETRY_PENDING, UNKNOWN
from parking.event_id import bounded
from parking.headers import pack
from parking.hold_key import hold_key
from parking.intake.answers import answered
from parking.intake.columns import NO_FAILURE, columns, content, time
from parking.intake.flows import FlowFacts, Flows
from parking.intake.idents import ident, key_ident
from parking.intake.pointers import ELSEWHERE, is_for, joined
from parking.intake.rows import Failure, Ident, Parked, Place, Row, Unplaced, Waiting
from parking.kafka_at import Found
from parking.record import Record
from parking.wire import Announcement, Outcome

BROKEN = "broken"
PENDING = "It waits on a retry topic for its next try: it is not parked. Name the topic in the flow's retry_topics."
HEALTHY = "It names where it came from, but no error: its producer writes the same on records that did not fail."
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_DELAY = timedelta(days=366)


@dataclass(slots=True)
class Arrived:
    """One record from a parking topic.

    `topic` is the id of its TopicIncarnation; `fault` says what of it the client could not read, `doubt` what it may
    have read wrongly (which a fingerprint would tell for certain); `source` is what it points at, or why that is not
    there, where it points at its event.
    """

    record: Record
    topic: int
    fault: str = ""
    doubt: str = ""
    source: Found | None = None

    @property
    def place(self) -> Place:
        return Place(self.topic, self.record.partition, self.record.offset)


def read(arrived: Arrived, flows: Flows, now: datetime) -> Row:
    """The row of a record; `now` stands in for a timestamp that cannot be."""
    try:
        if arrived.fault:
            return broken(arrived, flows.first, arrived.fault, now)
        reading = identify(arrived.record)
        if reading.payload_missing:
            reading = _followed(reading, arrived, flows)
        if isinstance(reading.wire, Outcome):
            return _told(arrived, flows, reading, reading.wire, now)
        if isinstance(reading.wire, Announcement):
            return _announced(arrived, flows, reading, reading.wire, now)
        return _dead_letter(arrived, flows, reading, now)
    except Unreadable as error:
        return broken(arrived, flows.first, str(error), now)
    except Exception as error:  # noqa: BLE001 - one record never stops the line
        return broken(arrived, flows.first, f"{type(error).__name__}: {error}", now)


def _followed(reading: Reading, arrived: Arrived, flows: Flows) -> Reading:
    """With what it points at, if it is a pointer into the source topic of the flow that it belongs to."""
    flow = flows.named(reading.wire.flow) if isinstance(reading.wire, Announcement) else _ungated(flows, reading)
    found = arrived.source if flow and is_for(flow.source_topic, reading) else ELSEWHERE
    return joined(reading, arrived.record, found)


def _ungated(flows: Flows, reading: Reading) -> FlowFacts | None:
    derived = "consumer_group" in reading.derived
    return flows.ungated(reading.consumer_group, derived=derived, source=reading.source_topic)


def broken(arrived: Arrived, flow: FlowFacts, reason: str, now: datetime) -> Unplaced:
    """The record raw, with the reason."""
    event_id = str(arrived.record.coordinates)
    return _unplaced(arrived, flow, now, kind=BROKEN, event_id=event_id, reason=reason)


def _unattributed(arrived: Arrived, flows: Flows, reading: Reading, reason: str, now: datetime) -> Unplaced:
    return _unplaced(arrived, flows.first, now, kind=UNATTRIBUTED, event_id=reading.event_id, reason=reason)


def _announced(arrived: Arrived, flows: Flows, reading: Reading, parked: Announcement, now: datetime) -> Row:
    flow = flows.named(parked.flow)
    if flow is None or not flow.gated:
        return _unattributed(arrived, flows, reading, _not_ours(parked.flow, flows), now)
    failures = tuple(Failure(attempt.number, attempt, _evidence(parked, attempt)) for attempt in parked.attempts)
    return _parked(
        arrived,
        flow,
        reading,
        now,
        kind=parked.kind,
        position=parked.position,
        failures=failures,
        original=parked.fingerprint,
        blocked_by=parked.blocked_by or "",
    )


def _told(arrived: Arrived, flows: Flows, reading: Reading, outcome: Outcome, now: datetime) -> Row:
    flow = flows.named(outcome.flow)
    if flow is None or not flow.gated:
        return _unattributed(arrived, flows, reading, _not_ours(outcome.flow, flows), now)
    return answered(arrived.record, arrived.place, flow, outcome)


def _dead_letter(arrived: Arrived, flows: Flows, reading: Reading, now: datetime) -> Row:
    if flows.watched and (reading.kind == RETRY_PENDING or not flows.parks):
        return _waiting(arrived, flows, reading, now)
    if reading.framework == UNATTRIBUTED:
        return _unattributed(arrived, flows, reading, "In no dialect that is known here.", now)
    if reading.kind == UNKNOWN:
        return _unattributed(arrived, flows, reading, HEALTHY, now)
    if reading.kind == RETRY_PENDING:
        return _unattributed(arrived, flows, reading, PENDING, now)
    flow = _ungated(flows, reading)
    if flow is None:
        group = reading.consumer_group or "(not named)"
        reason = f"A failure of consumer group {group}: no flow without a gate parks on {flows.topic} for that group."
        return _unattributed(arrived, flows, reading, reason, now)
    why = reading.why
    failure = Attempt(
        number=reading.attempts or 1,
        at=reading.failed_at_ms or arrived.record.timestamp_ms,
        error_type=why.error_class or why.outer or "",
        message=why.message or "",
        stacktrace=why.stacktrace or "",
        validation_errors=reading.validation_errors,
    )
    failures = (Failure(None, failure),)
    token = reading.token or 0
    return _parked(arrived, flow, reading, now, kind="poison", position=None, failures=failures, token=token)


def _waiting(arrived: Arrived, flows: Flows, reading: Reading, now: datetime) -> Waiting:
    record = arrived.record
    derived = "consumer_group" in reading.derived
    whose = flows.waiting(reading.consumer_group, reading.source_topic, derived=derived)
    flow = whose or flows.first
    return Waiting(
        place=arrived.place,
        content=content(record, pack(record.headers)),
        flow=flow,
        event=ident(flow, reading.event_id),
        event_id=storable.text(bounded(reading.event_id)),
        dialect=reading.framework,
        topic=storable.text(record.topic, 240),
        arrived_at=time(record.timestamp_ms, now) or now,
        due_at=time(reading.due_at_ms, now + LONGEST_DELAY),
        attempts=reading.attempts,
        error_type=storable.text(reading.error_class or reading.error_class_outer or "", 500),
        error_message=storable.text(reading.error_message or "", 10_000),
        foreign=whose is None,
    )


def _parked(
    arrived: Arrived,
    flow: FlowFacts,
    reading: Reading,
    now: datetime,
    *,
    kind: str,
    position: int | None,
    failures: tuple[Failure, ...],
    original: bytes | None = None,
    blocked_by: str = "",
    token: int = 0,
) -> Parked:
    record, event_id = arrived.record, bounded(reading.event_id)
    last = failures[-1].attempt if failures else None
    stored = columns(
        record,
        reading,
        now,
        reason=" ".join(reading.doubts),
        doubt=arrived.doubt,
        original=original,
        last=last or NO_FAILURE,
        blocked_by=blocked_by,
    )
    key = hold_key(stored.key, event_id, rule=flow.key_rule, promise=flow.promise)
    return Parked(
        place=arrived.place,
        content=content(record, stored.raw_headers),
        flow=flow,
        event=ident(flow, event_id),
        hold_key=key,
        key=key_ident(flow, key),
        kind=kind,
        position=position,
        failures=failures,
        group=error_group.group(last.error_type, last.message, last.stacktrace) if last else None,
        columns=stored,
        token=token,
    )


def _unplaced(arrived: Arrived, flow: FlowFacts, now: datetime, *, kind: str, event_id: str, reason: str) -> Unplaced:
    record = arrived.record
    reading = Reading(UNATTRIBUTED if kind == UNATTRIBUTED else BROKEN, kind, event_id, original_headers=record.headers)
    stored = columns(record, reading, now, reason=reason, doubt=arrived.doubt)
    named = f"record {arrived.topic}/{record.partition}/{record.offset}\0"  # never the id of an event of the flow
    return Unplaced(
        place=arrived.place,
        content=content(record, stored.raw_headers),
        flow=flow,
        event=Ident(flow.id, hashlib.sha256(named.encode()).digest()),
        kind=kind,
        columns=stored,
    )


def _not_ours(name: str, flows: Flows) -> str:
    return f"Names the flow {storable.text(name, 100)!r}, which is not a gated flow that parks on {flows.topic}."


def _evidence(parked: Announcement, attempt: Attempt) -> dict[str, Any] | None:
    """Evidence belongs to the announcement; it is kept with its newest attempt."""
    if parked.evidence and attempt is parked.attempts[-1]:
        return dict(storable.json(dict(parked.evidence)))
    return None
