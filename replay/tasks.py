"""The Celery task. Its message is an id and may be lost, come twice or come late: the database is the truth."""

import logging
import os
import socket
from typing import Any

from celery import Task, shared_task
from celery.exceptions import OperationalError as QueueDown
from django.conf import settings
from django.db import Error, close_old_connections, transaction
from django.db.models.functions import Now

from parking.beat import beat
from parking.trouble import of_database
from replay import run
from replay.models import Replay

log = logging.getLogger(__name__)


@shared_task(name="replay.advance", ignore_result=True)
def advance(replay_id: int) -> None:
    """Drive one replay for a short while, then queue itself again if there is more to do."""
    owner = f"{socket.gethostname()}:{os.getpid()}"
    try:
        due_in = run.advance(replay_id, owner=owner, seconds=settings.REPLAY_TICK_SECONDS)
    except Error as error:  # not raised: a traceback could quote a row
        log.warning("replay %s waits, watch will queue it again: %s", replay_id, of_database(error, "watch"))
        close_old_connections()
        return
    if due_in is not None:
        enqueue(replay_id, countdown=due_in)


@shared_task(name="replay.sign_of_life", ignore_result=True)
def sign_of_life() -> None:
    """A worker has taken this from its queue: the way from watch through Redis to a worker is open."""
    try:
        beat("worker", "takes replays from its queue")
    except Error as error:
        log.warning("worker: %s", of_database(error, "worker"))
        close_old_connections()


def wake(replay_id: int) -> None:
    """Have the replay looked at now: inside the caller's transaction, the message goes out on commit."""
    Replay.objects.filter(pk=replay_id).update(due_at=Now())
    transaction.on_commit(lambda: enqueue(replay_id))


def enqueue(replay_id: int, *, countdown: float = 0) -> bool:
    """Queue the task; False where Redis is down: watch queues what waits as soon as it is back."""
    return _sent(advance, (replay_id,), countdown=countdown)


def ask_for_sign_of_life(seconds: int) -> bool:
    """Have some worker say that it lives; the question is void after so many seconds."""
    return _sent(sign_of_life, (), expires=seconds)


def _sent(task: Task[..., None], arguments: tuple[int, ...], **options: Any) -> bool:
    try:
        task.apply_async(arguments, retry=False, **options)
    except (QueueDown, OSError) as error:
        _say(f"Redis cannot be reached ({error}): replays wait in the database, watch will queue them")
        return False
    _say("")
    return True


_said = [""]


def _say(away: str) -> None:
    """One line when Redis goes away and one when it is back, however often it is tried."""
    if bool(away) != bool(_said[0]):
        log.warning(away or "Redis is back: replays are queued again")
    _said[0] = away
