"""A record as it arrived → the row it becomes. Pure, never raises: what cannot be read is `broken`, with the reason."""

import hashlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from parking import error_group, storable
from parking.attempt import Attempt
from parking.dialects import UNATTRIBUTED, Reading, Unreadable, identify
from parking.dialects.reading import RETRY_PENDING, UNKNOWN
from parking.event_id import bounded
from parking.fields import pack as pack_fields
from parking.fingerprint import of_packed
from parking.headers import pack
from parking.hold_key import hold_key
from parking.intake.flows import FlowFacts, Flows
from parking.intake.pointers import ELSEWHERE, is_for, joined
from parking.intake.rows import Answered, Columns, Failure, Ident, KeyIdent, Parked, Place, Row, Unplaced, Waiting
from parking.kafka_at import Found
from parking.record import Record
from parking.wire import Announcement, Outcome, names

BROKEN = "broken"
NO_FINGERPRINT = b""
"""The fingerprint of an event whose key and value are not in its record: it is replayed once they are fetched."""
PENDING = "It waits on a retry topic for its next try: it is not parked. Name the topic in the flow's retry_topics."
HEALTHY = "It names where it came from, but no error: its producer writes the same on records that did not fail."
TYPE_HEADERS = ("event-type", "ce_type", "type")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORT = 64
TOO_FAR = timedelta(days=1)
LONGEST_DELAY = timedelta(days=366)
LATEST_MS = 253_402_300_800_000  # year 10 000


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
        reading = _followed(identify(arrived.record), arrived, flows)
        if isinstance(reading.wire, Outcome):
            return _answered(arrived, flows, reading, reading.wire, now)
        if isinstance(reading.wire, Announcement):
            return _announced(arrived, flows, reading, reading.wire, now)
        return _dead_letter(arrived, flows, reading, now)
    except Unreadable as error:
        return broken(arrived, flows.first, str(error), now)
    except Exception as error:  # noqa: BLE001 - one record never stops the line
        return broken(arrived, flows.first, f"{type(error).__name__}: {error}", now)


def _followed(reading: Reading, arrived: Arrived, flows: Flows) -> Reading:
    """With what it points at, if it is a pointer into the source topic of the flow that it belongs to."""
    if not reading.payload_missing:
        return reading
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
    record = arrived.record
    failure = Attempt(
        number=reading.attempts or 1,
        at=reading.failed_at_ms or record.timestamp_ms,
        error_type=reading.error_class or reading.error_class_outer or "",
        message=reading.error_message or "",
        stacktrace=reading.stacktrace or "",
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
        arrived_at=_time(record.timestamp_ms, now) or now,
        due_at=_time(reading.due_at_ms, now + LONGEST_DELAY),
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
    original_key, _ = reading.content(arrived.record)
    key = hold_key(original_key, bounded(reading.event_id), rule=flow.key_rule, promise=flow.promise)
    last = failures[-1].attempt if failures else None
    reason = " ".join(reading.doubts)
    columns = _columns(arrived, reading, now, original=original, last=last, blocked_by=blocked_by, reason=reason)
    return Parked(
        place=arrived.place,
        content=content(arrived.record, columns.raw_headers),
        flow=flow,
        event=ident(flow, reading.event_id),
        hold_key=key,
        key=key_ident(flow, key),
        kind=kind,
        position=position,
        failures=failures,
        group=error_group.group(last.error_type, last.message, last.stacktrace) if last else None,
        columns=columns,
        token=token,
    )


def _answered(arrived: Arrived, flows: Flows, reading: Reading, outcome: Outcome, now: datetime) -> Row:
    flow = flows.named(outcome.flow)
    if flow is None or not flow.gated:
        return _unattributed(arrived, flows, reading, _not_ours(outcome.flow, flows), now)
    last = outcome.attempts[-1] if outcome.attempts else None
    return Answered(
        place=arrived.place,
        content=content(arrived.record, pack(arrived.record.headers)),
        flow=flow,
        outcome=outcome.outcome,
        hold_key=outcome.hold_key,
        key=key_ident(flow, outcome.hold_key) if outcome.hold_key or outcome.outcome != names.REFUSED else None,
        event=ident(flow, outcome.event_id) if outcome.event_id is not None else None,
        position=outcome.position,
        token=outcome.token,
        replay_id=storable.text(outcome.replay_id or "", 200),
        fate_token=outcome.fate_token,
        fingerprint=outcome.fingerprint,
        floor=outcome.floor,
        still_held=tuple(ident(flow, held.event_id) for held in outcome.still_held),
        failures=tuple(Failure(attempt.number, attempt) for attempt in outcome.attempts),
        group=error_group.group(last.error_type, last.message, last.stacktrace) if last else None,
        attempts_json=tuple(storable.json(asdict(attempt)) for attempt in outcome.attempts),
        evidence=storable.json(_told(outcome)),
    )


def _told(outcome: Outcome) -> dict[str, Any] | None:
    """The evidence as it stood on the wire."""
    still_held = [
        {"event_id": held.event_id, "position": held.position, "kind": held.kind, **asdict(held.source)}
        for held in outcome.still_held
    ]
    told = {
        **(outcome.evidence or {}),
        "floor": outcome.floor,
        "first_held": outcome.first_held,
        "reason": outcome.reason,
        "held_count": outcome.held_count,
        "still_held": still_held or None,
    }
    return {name: value for name, value in told.items() if value is not None} or None


def _unplaced(arrived: Arrived, flow: FlowFacts, now: datetime, *, kind: str, event_id: str, reason: str) -> Unplaced:
    record = arrived.record
    reading = Reading(UNATTRIBUTED if kind == UNATTRIBUTED else BROKEN, kind, event_id, original_headers=record.headers)
    columns = _columns(arrived, reading, now, reason=reason)
    named = f"record {arrived.topic}/{record.partition}/{record.offset}\0"  # never the id of an event of the flow
    return Unplaced(
        place=arrived.place,
        content=content(record, columns.raw_headers),
        flow=flow,
        event=Ident(flow.id, hashlib.sha256(named.encode()).digest()),
        kind=kind,
        columns=columns,
    )


def _columns(
    arrived: Arrived,
    reading: Reading,
    now: datetime,
    *,
    reason: str,
    original: bytes | None = None,
    last: Attempt | None = None,
    blocked_by: str = "",
) -> Columns:
    record = arrived.record
    key, value = reading.content(record)
    unwrapped = key is not record.key or value is not record.value
    exact = bounded(reading.event_id)
    headers = pack(reading.original_headers) if reading.packed_headers is None else reading.packed_headers
    event_id = storable.text(exact)
    return Columns(
        dialect=reading.framework,
        event_id=event_id,
        event_id_bytes=None if event_id == exact else exact.encode("utf-8", "surrogatepass"),
        event_type=_event_type(record),
        parking_topic=storable.text(record.topic, 240),
        parked_at=_time(record.timestamp_ms, now) or now,
        source_topic=storable.text(reading.source_topic or "", 1000),
        source_partition=_int32(reading.source_partition),
        source_offset=reading.source_offset,
        source_at=_time(reading.source_timestamp_ms, now),
        consumer_group=storable.text(reading.consumer_group or "", 1000),
        fingerprint=original or (NO_FINGERPRINT if reading.payload_missing else of_packed(key, value, headers)),
        error_type=storable.text(last.error_type if last else "", 500),
        error_message=storable.text(last.message if last else "", 10_000),
        blocked_by=storable.text(blocked_by, 2000),
        unreadable_reason=storable.text(reason if original else f"{reason} {arrived.doubt}".strip(), 2000),
        not_original=storable.text(f"{reading.not_original} {'' if original else arrived.doubt}".strip(), 2000),
        key=key,
        value=value,
        headers=headers,
        raw_headers=_all_headers(record, reading, headers),
        wrapped=pack_fields([record.key, record.value]) if unwrapped else None,
    )


def ident(flow: FlowFacts, event_id: str) -> Ident:
    return Ident(flow.id, hashlib.sha256(bounded(event_id).encode("utf-8", "surrogatepass")).digest())


def key_ident(flow: FlowFacts, key: bytes) -> KeyIdent:
    return _short_key(flow.id, key) if len(key) <= SHORT else _key(flow.id, key)


def _key(flow: int, key: bytes) -> KeyIdent:
    return KeyIdent(flow, hashlib.sha256(key).digest())


_short_key = lru_cache(maxsize=8192)(_key)  # few keys have most of the events


def content(record: Record, headers: bytes) -> bytes:
    """SHA-256 of everything that arrived: the same coordinates with other bytes are another record."""
    return hashlib.sha256(pack_fields([b"%d" % record.timestamp_ms, record.key, record.value]) + headers).digest()


def _all_headers(record: Record, reading: Reading, originals: bytes) -> bytes:
    """All of them packed; in our own records, and where nothing was taken out, the originals are their beginning."""
    count = len(reading.original_headers)
    if record.headers[:count] == reading.original_headers:
        return originals + pack(record.headers[count:])
    return pack(record.headers)


def _not_ours(name: str, flows: Flows) -> str:
    return f"Names the flow {storable.text(name, 100)!r}, which is not a gated flow that parks on {flows.topic}."


def _evidence(parked: Announcement, attempt: Attempt) -> dict[str, Any] | None:
    """Evidence belongs to the announcement; it is kept with its newest attempt."""
    if parked.evidence and attempt is parked.attempts[-1]:
        return dict(storable.json(dict(parked.evidence)))
    return None


def _event_type(record: Record) -> str:
    firsts = {name: value for name, value in reversed(record.headers) if name in TYPE_HEADERS}
    value = next((value for name in TYPE_HEADERS if (value := firsts.get(name))), b"")
    return storable.text(value.decode("utf-8", "replace"), 200)


def _time(ms: int | None, now: datetime) -> datetime | None:
    """The time, where a clock could have said it."""
    if ms is None or not 0 < ms < LATEST_MS:
        return None
    seconds, rest = divmod(ms, 1000)
    at = datetime.fromtimestamp(seconds, UTC)
    return (at.replace(microsecond=1000 * rest) if rest else at) if at <= now + TOO_FAR else None


def _int32(number: int | None) -> int | None:
    return number if number is not None and number < 2**31 else None
