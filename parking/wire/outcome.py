"""Outcome records of the parking topic: the consumer answers a replay record with what its ledger knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from parking import attempt
from parking.attempt import LARGEST as LARGEST_NUMBER
from parking.attempt import Attempt
from parking.coordinates import Coordinates
from parking.record import Headers, Record
from parking.wire import names
from parking.wire.block import LARGEST, Block, Wire, build, compact, required, size, source_fields, split
from parking.wire.fit import fit_attempts

_OWN = ("floor", "first_held", "reason", "held_count", "still_held")


@dataclass(frozen=True, slots=True)
class StillHeld:
    """One event that keeps a key from opening. `position` is None and a coordinate −1 where unknown."""

    event_id: str
    position: int | None
    kind: str
    source: Coordinates


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer. `hold_key` is the record key; what does not apply is None or empty.

    `fingerprint` (32 bytes) and `fate_token` (0 = live) are the ledger's, on a fact (`applied`, `skipped`).
    `position` is the event's, on `released` it is `released_position`.
    """

    outcome: str
    flow: str
    hold_key: bytes
    event_id: str | None = None
    position: int | None = None
    token: int | None = None
    replay_id: str | None = None
    fate_token: int | None = None
    fingerprint: bytes | None = None
    source: Coordinates | None = None
    consumer_group: str | None = None
    attempts: tuple[Attempt, ...] = ()
    floor: int | None = None
    first_held: str | None = None
    reason: str | None = None
    held_count: int | None = None
    still_held: tuple[StillHeld, ...] = ()
    evidence: Mapping[str, Any] | None = None


def encode(outcome: Outcome) -> Wire:
    """The record for the parking topic: hold key and null value. As many of `still_held` are named as fit in 32 KiB."""

    def block(attempts: tuple[Attempt, ...], evidence: Mapping[str, Any] | None) -> Headers:
        return _block(replace(outcome, attempts=attempts, evidence=evidence))

    while outcome.still_held and size(_block(replace(outcome, attempts=(), evidence=None))) > LARGEST:
        outcome = replace(outcome, still_held=outcome.still_held[:-1])
    return Wire(outcome.hold_key, None, fit_attempts(outcome.attempts, outcome.evidence, block))


def decode(record: Record) -> Outcome:
    """Read an outcome record. Raises Malformed."""
    block = Block(split(record.headers)[1])
    tries = block.raw(names.ATTEMPTS)
    evidence = block.members(names.EVIDENCE)
    return Outcome(
        outcome=block.word(names.OUTCOME, names.OUTCOMES),
        flow=required(names.FLOW, block.text(names.FLOW)),
        hold_key=record.key or b"",
        event_id=block.text(names.EVENT_ID),
        position=block.number(names.POSITION),
        token=block.number(names.TOKEN),
        replay_id=block.text(names.REPLAY_ID),
        fate_token=block.number(names.FATE_TOKEN),
        fingerprint=block.digest(names.FINGERPRINT),
        source=block.source(),
        consumer_group=block.text(names.CONSUMER_GROUP),
        attempts=() if tries is None else attempt.from_json(tries, f"header {names.ATTEMPTS}"),
        floor=_number(evidence.get("floor")),
        first_held=_text(evidence.get("first_held")),
        reason=_text(evidence.get("reason")),
        held_count=_number(evidence.get("held_count")),
        still_held=_still_held(evidence.get("still_held")),
        evidence={name: value for name, value in evidence.items() if name not in _OWN} or None,
    )


def _block(outcome: Outcome) -> Headers:
    return build(
        [
            (names.KIND, "outcome"),
            (names.FLOW, outcome.flow),
            (names.EVENT_ID, outcome.event_id),
            (names.POSITION, outcome.position),
            (names.FINGERPRINT, outcome.fingerprint.hex() if outcome.fingerprint else None),
            *source_fields(outcome.source),
            (names.CONSUMER_GROUP, outcome.consumer_group),
            (names.ATTEMPTS, attempt.to_json(outcome.attempts) if outcome.attempts else None),
            (names.TOKEN, outcome.token),
            (names.REPLAY_ID, outcome.replay_id),
            (names.OUTCOME, outcome.outcome),
            (names.FATE_TOKEN, outcome.fate_token),
            (names.EVIDENCE, compact(_evidence(outcome))),
        ]
    )


def _evidence(outcome: Outcome) -> dict[str, Any]:
    own = {
        "floor": outcome.floor,
        "first_held": outcome.first_held,
        "reason": outcome.reason,
        "held_count": outcome.held_count,
        "still_held": [
            {
                "event_id": held.event_id,
                "position": held.position,
                "kind": held.kind,
                "topic": held.source.topic,
                "partition": held.source.partition,
                "offset": held.source.offset,
                "timestamp": held.source.timestamp_ms,
            }
            for held in outcome.still_held
        ]
        or None,
    }
    return {**(outcome.evidence or {}), **{name: value for name, value in own.items() if value is not None}}


def _still_held(listed: object) -> tuple[StillHeld, ...]:
    held = [members for members in listed if isinstance(members, dict)] if isinstance(listed, list) else []
    return tuple(
        StillHeld(
            _text(m.get("event_id")) or "", _number(m.get("position")), _text(m.get("kind")) or "", _coordinates(m)
        )
        for m in held
    )


def _coordinates(members: Mapping[str, Any]) -> Coordinates:
    numbers = [_number(members.get(name)) for name in ("partition", "offset", "timestamp")]
    return Coordinates(_text(members.get("topic")) or "", *(-1 if number is None else number for number in numbers))


def _number(number: object) -> int | None:
    sound = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST_NUMBER
    return number if sound and isinstance(number, int) else None


def _text(value: object) -> str | None:
    return attempt.whole(value) if isinstance(value, str) else None
