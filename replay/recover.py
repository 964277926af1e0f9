"""What watch does for replays that nobody drives: the queue may have been emptied, a worker killed."""

from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from replay import outside, settle, states, tasks
from replay.models import Replay

LATE = timedelta(seconds=5)
EVIDENCE = timedelta(days=7)


def stuck() -> list[int]:
    """Ids of replays that have to be driven, that no worker holds, and whose message should have come by now."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=Now())
    late = Q(due_at__isnull=True) | Q(due_at__lte=Now() - LATE) | Q(lease_until__lte=Now())
    return list(Replay.objects.filter(free, late, state__in=states.DRIVEN).order_by("pk").values_list("pk", flat=True))


def recover() -> int:
    """Queue every stuck replay again; how many were queued. Doing it too often is harmless: the lease decides."""
    queued = 0
    for replay_id in stuck():
        if not tasks.enqueue(replay_id):
            break
        queued += 1
    return queued


def settle_late() -> int:
    """Let late evidence settle `unconfirmed` steps of replays that ended in the last days; how many steps moved."""
    unconfirmed = Q(steps__state="unconfirmed", state__in=states.TERMINAL, finished_at__gt=Now() - EVIDENCE)
    ended = Replay.objects.filter(unconfirmed).distinct().values_list("pk", flat=True)
    return sum(settle.settle_ended(replay_id) for replay_id in ended) + outside.settle_late()
