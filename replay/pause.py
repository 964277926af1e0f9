"""Pause a running replay, and let it go on. What is in flight meanwhile gets its outcome as ever."""

from django.db import transaction

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict
from parking.reason import optional
from replay import states, tasks
from replay.models import Replay


def pause(*, replay_id: int, actor: Actor, reason: str = "") -> Replay:
    """The paused replay: no further event is sent. Raises Conflict unless it is running."""
    return _move(replay_id, "paused", ("running",), actor=actor, verb="pause", reason=optional(reason))


def resume(*, replay_id: int, actor: Actor, reason: str = "") -> Replay:
    """The running replay; a worker is told on commit. Raises Conflict unless it is paused."""
    return _move(replay_id, "running", ("paused",), actor=actor, verb="resume", reason=optional(reason))


def _move(replay_id: int, to: str, only: tuple[str, ...], *, actor: Actor, verb: str, reason: str) -> Replay:
    with transaction.atomic():
        replay = Replay.objects.select_for_update(of=("self",)).select_related("flow").get(pk=replay_id)
        if replay.state not in only:
            raise Conflict(f"Replay {replay.pk} is {replay.state}: only a {' or '.join(only)} one can be {to}.")
        states.move(Replay.objects.filter(pk=replay.pk), to, moves=states.REPLAY)
        tasks.wake(replay.pk)
        journal.write(
            actor=actor,
            verb=verb,
            flow=replay.flow,
            quarantine_id=replay.quarantine_id,
            replay_id=replay.pk,
            reason=reason,
        )
    replay.refresh_from_db()
    return replay
