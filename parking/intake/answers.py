"""An outcome record → the row of an answer."""

from dataclasses import asdict
from typing import Any

from parking import error_group, storable
from parking.headers import pack
from parking.intake.columns import content
from parking.intake.flows import FlowFacts
from parking.intake.idents import ident, key_ident
from parking.intake.rows import Answered, Failure, Place
from parking.record import Record
from parking.wire import Outcome, names


def answered(record: Record, place: Place, flow: FlowFacts, outcome: Outcome) -> Answered:
    last = outcome.attempts[-1] if outcome.attempts else None
    return Answered(
        place=place,
        content=content(record, pack(record.headers)),
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
        {"event_id": held.event_id, "position": held.position, "kind": held.kind, **held.source._asdict()}
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
