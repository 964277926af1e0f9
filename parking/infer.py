"""Settle an event whose consumer has no gate, by what can be seen from outside (DESIGN section 5, plain Kafka target).

A consumer with the gate states facts, and intake alone settles its events. Here nobody states anything: the outcome is
inferred, the journal keeps from what, and if the event is parked again later it comes back (parking.intake.fold).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from parking import journal, states
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import EventState, HoldKey, Quarantine

BELIEVED = {
    "applied": "Its consumer's group has committed past it, and it was not parked again: it is believed to be applied.",
    "skipped": "It was decided to skip it, and it was never sent.",
}


def infer(
    *,
    event_state_id: int,
    state: str,
    token: int,
    replay_id: int | None,
    evidence: Mapping[str, Any],
    actor: Actor,
    fingerprint: bytes | None = None,
) -> bool:
    """Settle one event as `applied` or `skipped`, in the caller's transaction, as its last act.

    `evidence` is why we believe it: a JSON object without fractions and payloads; `fingerprint` (32 bytes) of what was
    sent. When it was the last unsettled event of its quarantine, that is released; returns whether it was. Raises
    Refused for a flow with the gate, Conflict if the event is no longer parked.
    """
    event, quarantine = _locked(event_state_id)
    if event.flow.gated:
        raise Refused(f"Flow {event.flow.name} has the gate: only its consumer's answers settle an event.")
    now = timezone.now()
    changes = {"fate_token": token, "fate_fingerprint": fingerprint, "settled_at": now}
    row = EventState.objects.filter(pk=event.pk)
    if event.state != "parked" or not states.move(row, states.EVENT, before="parked", after=state, **changes):
        raise Conflict(f"The event is {event.state} already.", at=event.settled_at, what=event.state)
    _count(quarantine, event.kind)
    released = quarantine.depth == 0
    if released:
        _release(quarantine, now)
    _tell(event, actor, replay_id, state, {**evidence, "token": token})
    if released:
        _tell_of_the_release(event, actor, replay_id)
    return released


def _locked(event_state_id: int) -> tuple[EventState, Quarantine]:
    """The event and its quarantine, locked in everyone's order: hold key, quarantine, event."""
    quarantine_id = EventState.objects.values_list("quarantine_id", flat=True).get(pk=event_state_id)
    if quarantine_id is None:
        raise Refused("This record belongs to no key's quarantine: there is nothing to settle.")
    key = Quarantine.objects.values_list("hold_key_id", flat=True).get(pk=quarantine_id)
    HoldKey.objects.select_for_update(no_key=True).get(pk=key)
    quarantine = Quarantine.objects.select_for_update(no_key=True).get(pk=quarantine_id)
    events = EventState.objects.select_for_update(no_key=True, of=("self",)).select_related("flow")
    event = events.get(pk=event_state_id)
    if event.quarantine_id != quarantine_id:
        raise Conflict("The event has moved to the next quarantine of its key: look again.")
    return event, quarantine


def _count(quarantine: Quarantine, kind: str) -> None:
    if kind == EventState.Kind.POISON:
        quarantine.poison -= 1
    else:
        quarantine.held -= 1
    quarantine.settled += 1
    quarantine.depth_bucket = quarantine.depth.bit_length()
    head = EventState.objects.unsettled(quarantine).select_related("event").first()
    quarantine.oldest_at = head.event.parked_at if head else None
    quarantine.save(update_fields=["poison", "held", "settled", "depth_bucket", "oldest_at"])


def _release(quarantine: Quarantine, now: datetime) -> None:
    """No consumer holds the key, so it is released as soon as nothing of it waits."""
    row = Quarantine.objects.filter(pk=quarantine.pk)
    states.move(row, states.QUARANTINE, before=quarantine.state, after="released", released_at=now)


def _tell(event: EventState, actor: Actor, replay_id: int | None, state: str, evidence: dict[str, Any]) -> None:
    journal.write(
        actor=actor,
        verb="infer",
        flow=event.flow,
        quarantine_id=event.quarantine_id,
        event_id=event.pk,
        replay_id=replay_id,
        reason=BELIEVED[state],
        detail={"state": state, "evidence": evidence},
    )


def _tell_of_the_release(event: EventState, actor: Actor, replay_id: int | None) -> None:
    journal.write(
        actor=actor,
        verb="released",
        flow=event.flow,
        quarantine_id=event.quarantine_id,
        replay_id=replay_id,
        reason="No consumer holds the key (it has no gate), and nothing of it waits any more.",
    )
