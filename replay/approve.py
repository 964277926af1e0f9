"""The second person: approve exactly the plan that was shown, or reject it."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import Quarantine
from parking.moment import said
from parking.reason import required
from replay import plan, states, targets, tasks
from replay.models import Replay


def approve(*, replay_id: int, digest: bytes, actor: Actor, reason: str, memory_confirmed: bool = False) -> Replay:
    """The approved replay; a worker is told on commit.

    `digest` (32 bytes) is that of the plan the approver saw. Raises Refused for the requester and for the authors of
    its decisions and amendments, after the deadline, where the target may have forgotten an event and
    `memory_confirmed` is not set, and where the target could not take the records; Conflict if the plan changed or
    somebody decided before.
    """
    reason = required(reason, "why this may run")
    seen = Replay.objects.select_related("flow__cluster", "quarantine__hold_key", "quarantine__flow").get(pk=replay_id)
    targets.check(seen.flow, plan.frozen(seen).steps)
    with transaction.atomic():
        replay = _waiting(replay_id)
        current = plan.again(replay)
        _same(replay, current, digest)
        _another(replay, current, actor)
        _remembered(replay, memory_confirmed)
        authors = sorted(current.authors | set(replay.authors))
        return _decide(replay, "approved", actor, reason, authors=authors, memory_confirmed=memory_confirmed)


def reject(*, replay_id: int, actor: Actor, reason: str) -> Replay:
    """The rejected replay. Raises Refused without a reason, Conflict if somebody decided before."""
    reason = required(reason, "why this may not run")
    with transaction.atomic():
        return _decide(_waiting(replay_id), "rejected", actor, reason, finished_at=timezone.now())


def own(replay: Replay, actor_id: str) -> str:
    """Why this person may not approve the replay; empty if nothing speaks against it."""
    if actor_id == replay.requested_by_id:
        return "You asked for this replay: another person has to approve it."
    if actor_id in replay.authors:
        return "You wrote a decision or an amendment in this plan: another person has to approve it."
    return ""


def beyond_memory(replay: Replay) -> int:
    """How many of its events are older than the time for which the target remembers effect keys."""
    edge = timezone.now() - timedelta(days=replay.flow.effect_memory_days)
    first_seen = Q(event_state__event__parked_at__lt=edge) | Q(event_state__event__source_at__lt=edge)
    return replay.steps.filter(first_seen).exclude(action__in=("skip", "hold")).count()


def _waiting(replay_id: int) -> Replay:
    """The replay if it still waits for a decision, locked; then its quarantine, so that no event is decided on now."""
    locked = Replay.objects.select_for_update(of=("self",))
    replay = locked.select_related("flow", "quarantine__hold_key", "quarantine__flow").get(pk=replay_id)
    Quarantine.objects.select_for_update().get(pk=replay.quarantine_id)
    if replay.state != Replay.State.REQUESTED:
        raise Conflict(_decided(replay))
    if replay.expires_at <= timezone.now():
        raise Refused(f"The request expired at {said(replay.expires_at)}: ask for the replay again.")
    return replay


def _decided(replay: Replay) -> str:
    at = replay.decided_at or replay.finished_at
    who = f" by {replay.decided_by_name}" if replay.decided_by_name else ""
    when = f" at {said(at)}" if at else ""
    return f"Replay {replay.pk} no longer waits for approval: it is {replay.state}, decided{who}{when}."


def _same(replay: Replay, current: plan.Plan, digest: bytes) -> None:
    if digest != bytes(replay.digest):
        raise Conflict("This is not the plan that was shown to you: look at it again, then decide.")
    if current.digest != digest:
        raise Conflict(
            "The plan has changed since it was requested (a decision, an amendment, an event or the flow's settings): "
            "cancel this request and ask for the new plan."
        )


def _another(replay: Replay, current: plan.Plan, actor: Actor) -> None:
    replay.authors = sorted(current.authors | set(replay.authors))
    refusal = own(replay, actor.id)
    if refusal:
        raise Refused(refusal)


def _remembered(replay: Replay, confirmed: bool) -> None:
    forgotten = 0 if confirmed else beyond_memory(replay)
    if forgotten:
        raise Refused(
            f"{forgotten} event(s) of this plan are older than the {replay.flow.effect_memory_days} days for which the "
            "target remembers what it applied: if one took effect long ago, it would take effect again. Confirm this "
            "explicitly to approve."
        )


def _decide(replay: Replay, to: str, actor: Actor, reason: str, **changes: Any) -> Replay:
    states.move(
        Replay.objects.filter(pk=replay.pk),
        to,
        moves=states.REPLAY,
        decided_by_id=actor.id,
        decided_by_name=actor.name,
        decided_at=timezone.now(),
        decision_reason=reason,
        **changes,
    )
    if to == "approved":
        tasks.wake(replay.pk)
    journal.write(
        actor=actor,
        verb="approve" if to == "approved" else "reject",
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        replay_id=replay.pk,
        reason=reason,
        detail={"digest": bytes(replay.digest).hex(), "memory_confirmed": bool(changes.get("memory_confirmed"))},
    )
    replay.refresh_from_db()
    return replay
