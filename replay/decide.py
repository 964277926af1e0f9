"""What is to happen to one parked event: apply it as it is, apply an amendment, or skip it."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import Amendment, Decision, EventState, Quarantine
from parking.moment import said
from parking.reason import optional, required
from replay.models import Step
from replay.plan import decision_of
from replay.states import FROZEN

SKIP = "why it may be skipped"
AS_IT_IS = "why it may be sent although it is not, or may not be, what the consumer had been given"


def decide(
    *,
    event_state_id: int,
    action: str,
    reason: str,
    actor: Actor,
    amendment_id: int | None = None,
    seen_decision_at: datetime | None = None,
) -> Decision:
    """The decision, which replaces the one before it.

    `seen_decision_at` is the time of the decision that the person saw, None if there was none. Raises Conflict if
    there is another one now; Refused for a settled event, one without a quarantine, one in an approved or running
    replay, an amendment that is not of this event, and a skip without a reason; so is, of an event whose bytes are not
    the original ones, an apply without a reason.
    """
    if action not in Decision.Action.values:
        raise Refused(f"A decision is apply, amend or skip; {action[:40]!r} arrived.")
    reason = required(reason, SKIP) if action == Decision.Action.SKIP else optional(reason)
    with transaction.atomic():
        event = undecided_until_commit(event_state_id)
        _seen(event, seen_decision_at)
        _still_there(event, action)
        if event.event.not_original and action == Decision.Action.APPLY:
            reason = required(reason, f"{AS_IT_IS} ({event.event.not_original.rstrip('.')})")
        amendment = _amendment(event, action, amendment_id)
        return record(event, action=action, amendment=amendment, reason=reason, actor=actor)


def undecided_until_commit(event_state_id: int) -> EventState:
    """The event, its quarantine locked so that nobody else decides, plans or approves until the commit.

    Raises Refused if it takes no decision: settled, in no quarantine, or in an approved or running replay.
    """
    quarantine_id = EventState.objects.values_list("quarantine_id", flat=True).get(pk=event_state_id)
    if quarantine_id is None:
        raise Refused(
            "This record belongs to no key's quarantine: it cannot be replayed, so there is nothing to decide."
        )
    Quarantine.objects.select_for_update().get(pk=quarantine_id)
    events = EventState.objects.select_related("event", "decision", "flow", "quarantine")
    event = events.get(pk=event_state_id)
    if event.state != EventState.State.PARKED:
        raise Refused(f"The event was {event.state} at {said(event.settled_at)}: nothing is left to decide.")
    _not_frozen(event)
    return event


def record(event: EventState, *, action: str, amendment: Amendment | None, reason: str, actor: Actor) -> Decision:
    """Write the decision and the journal entry, in the caller's transaction, as its last act."""
    decision, _ = Decision.objects.update_or_create(
        event_state=event,
        defaults={
            "action": action,
            "amendment": amendment,
            "reason": reason,
            "actor_id": actor.id,
            "actor_name": actor.name,
            "at": timezone.now(),
        },
    )
    journal.write(
        actor=actor,
        verb="amend" if action == Decision.Action.AMEND else "decide",
        flow=event.flow,
        quarantine_id=event.quarantine_id,
        event_id=event.pk,
        reason=reason,
        detail={"action": action, "version": amendment.version if amendment else 1},
    )
    return decision


def _not_frozen(event: EventState) -> None:
    steps = Step.objects.filter(event_state=event, replay__state__in=FROZEN).select_related("replay")
    step = steps.first()
    if step:
        replay = step.replay
        raise Refused(
            f"Replay {replay.pk}, approved by {replay.decided_by_name}, contains this event and is {replay.state}: "
            "its plan can no longer change. Cancel it first."
        )


def _seen(event: EventState, seen_decision_at: datetime | None) -> None:
    decision = decision_of(event)
    if decision and decision.at != seen_decision_at:
        raise Conflict(
            f"{decision.actor_name} decided {decision.action} at {said(decision.at)}, after this page was "
            "shown: look at it, then decide again if you still want to.",
            who=decision.actor_name,
            at=decision.at,
            what=decision.action,
        )


def _still_there(event: EventState, action: str) -> None:
    """Refuse to send bytes that retention has removed; the event came back after it was settled and scrubbed."""
    if event.scrubbed_at and action != Decision.Action.SKIP:
        raise Refused(f"Retention removed the event's bytes at {said(event.scrubbed_at)}: it can only be skipped.")


def _amendment(event: EventState, action: str, amendment_id: int | None) -> Amendment | None:
    if action != Decision.Action.AMEND:
        return None
    amendment = event.amendments.filter(pk=amendment_id or 0).first()
    if amendment is None:
        raise Refused("The decision amend needs an amendment of this event: write one first.")
    return amendment
