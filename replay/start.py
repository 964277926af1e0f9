"""The start of an approved replay: still in time, still the approved plan, a target that takes it, and a new token."""

from django.db.models.functions import Now
from django.utils import timezone

from parking import journal, quarantine
from parking.errors import Conflict, Refused
from replay import expire, plan, settle, states, targets, token
from replay import lease as leases
from replay.end import WORKER, end
from replay.lease import Lease
from replay.models import Replay
from replay.targets.topic import Topic, Unreachable


def start(lease: Lease) -> str:
    """`approved → running`, and on to `stopped` before anything is sent where it may not run; what is waited for.

    Raises LeaseLost.
    """
    replay = Replay.objects.select_related("flow__cluster", "quarantine__hold_key").get(pk=lease.replay_id)
    try:
        topic, refusal = targets.check(replay.flow, plan.frozen(replay).steps), ""
    except Unreachable as error:
        return str(error)
    except Refused as error:
        topic, refusal = None, str(error)
    with leases.held(lease) as locked:
        if locked.state == Replay.State.APPROVED:
            _start(locked, topic, refusal)
    return ""


def _start(replay: Replay, topic: Topic | None, refusal: str) -> None:
    if replay.expires_at <= timezone.now():
        expire.expire(replay_id=replay.pk, actor=WORKER)
        return
    number = token.take(replay.quarantine.hold_key_id)
    try:
        quarantine.begin_replay(quarantine_id=replay.quarantine_id)
    except Conflict as error:
        end(replay, "cancelled", reason=str(error))
        return
    states.move(
        Replay.objects.filter(pk=replay.pk),
        "running",
        moves=states.REPLAY,
        token=number,
        partitions=topic.partitions if topic else 0,
        largest=topic.largest if topic else 0,
        outcomes_from=settle.latest_outcome(replay),
        started_at=Now(),
        waiting_for="",
    )
    refusal = refusal or _not_approved(replay)
    if refusal:
        end(replay, "stopped", reason=refusal)
        return
    journal.write(
        actor=WORKER,
        verb="start",
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        replay_id=replay.pk,
        detail={"token": number, "worker": replay.lease_owner},
    )


def _not_approved(replay: Replay) -> str:
    if plan.frozen(replay).digest == bytes(replay.digest):
        return ""
    return "The plan is not the one that was approved (its steps or the flow's target changed): nothing was sent."
