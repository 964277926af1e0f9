"""Ask for a replay: freeze the plan that was shown, and wait for another person."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import Quarantine
from parking.moment import said
from parking.reason import required
from replay import plan, targets
from replay.models import Replay, Step
from replay.states import TERMINAL


def request(
    *,
    quarantine_id: int,
    digest: bytes,
    actor: Actor,
    reason: str,
    follow: str = Replay.Follow.FOLLOW,
    repair: bool = False,
) -> Replay:
    """A requested replay with its steps, for the plan whose digest (32 bytes) the requester saw.

    With `repair` it is the plan that holds the key again (`plan.repair`), where the consumer's ledger was restored.
    Raises Conflict if the plan is not the one that was shown or a replay of the key lives already; Refused without a
    reason, for a released key, for an event without a decision, and where the target could not take the records.
    """
    reason = required(reason, "why this should be replayed")
    quarantine = Quarantine.objects.select_related("flow__cluster", "hold_key").get(pk=quarantine_id)
    targets.check(quarantine.flow, _plan(quarantine, follow, repair).steps)
    with transaction.atomic():
        locked = Quarantine.objects.select_for_update(of=("self",)).select_related("flow", "hold_key")
        quarantine = locked.get(pk=quarantine_id)
        _free(quarantine)
        asked = _plan(quarantine, follow, repair)
        if asked.digest != digest:
            raise Conflict("The plan has changed since it was shown: look at it again, then ask for that one.")
        return _freeze(quarantine, asked, actor=actor, reason=reason)


def _plan(quarantine: Quarantine, follow: str, repair: bool) -> plan.Plan:
    return plan.repair(quarantine) if repair else plan.build(quarantine, follow=follow)


def _free(quarantine: Quarantine) -> None:
    if quarantine.state == Quarantine.State.RELEASED:
        raise Refused(f"The key was released at {said(quarantine.released_at)}: nothing is left to replay.")
    living = quarantine.replays.exclude(state__in=TERMINAL).first()
    if living:
        raise Conflict(
            f"Replay {living.pk} of this key is {living.state}: {living.requested_by_name} asked for it at "
            f"{said(living.requested_at)}. One key has one replay at a time."
        )


def _freeze(quarantine: Quarantine, asked: plan.Plan, *, actor: Actor, reason: str) -> Replay:
    now = timezone.now()
    replay = Replay.objects.create(
        quarantine=quarantine,
        flow=quarantine.flow,
        repair=asked.repair,
        state=Replay.State.REQUESTED,
        digest=asked.digest,
        follow=asked.follow,
        follow_cap=asked.follow_cap,
        pace_per_second=asked.pace_per_second,
        window=asked.window,
        requested_by_id=actor.id,
        requested_by_name=actor.name,
        requested_at=now,
        reason=reason,
        authors=sorted(asked.authors),
        expires_at=now + timedelta(minutes=quarantine.flow.approval_minutes),
    )
    Step.objects.bulk_create(plan.steps(replay, asked.steps), batch_size=1000)
    journal.write(
        actor=actor,
        verb="request",
        flow=quarantine.flow,
        quarantine_id=quarantine.pk,
        replay_id=replay.pk,
        reason=reason,
        detail={
            "digest": asked.digest.hex(),
            "steps": len(asked.steps),
            "follow": asked.follow,
            **({"repair": True} if asked.repair else {}),
        },
    )
    return replay
