"""Cancel a replay: nothing more is sent, and it ends when everything that was sent has its outcome."""

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict
from parking.moment import said
from parking.reason import required
from replay import states, tasks
from replay.models import Replay

STARTED = states.sources(states.REPLAY, "cancelling")


def cancel(*, replay_id: int, actor: Actor, reason: str) -> Replay:
    """The replay, `cancelled` if it had not started, else `cancelling`.

    Raises Refused without a reason, Conflict if it has ended or is being cancelled already.
    """
    reason = required(reason, "why it should not go on")
    with transaction.atomic():
        replay = Replay.objects.select_for_update(of=("self",)).select_related("flow").get(pk=replay_id)
        _move(replay)
        tasks.wake(replay.pk)
        journal.write(
            actor=actor,
            verb="cancel",
            flow=replay.flow,
            quarantine_id=replay.quarantine_id,
            replay_id=replay.pk,
            reason=reason,
            detail={"was": replay.state},
        )
    replay.refresh_from_db()
    return replay


def _move(replay: Replay) -> None:
    row = Replay.objects.filter(pk=replay.pk)
    try:
        if replay.state in STARTED:
            states.move(row, "cancelling", moves=states.REPLAY)
        else:
            states.move(row, "cancelled", moves=states.REPLAY, finished_at=timezone.now())
    except states.ImpossibleMove:
        at = f" since {said(replay.finished_at)}" if replay.finished_at else ""
        raise Conflict(f"Replay {replay.pk} is {replay.state}{at}: there is nothing to cancel.") from None
