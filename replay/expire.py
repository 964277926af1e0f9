"""Deadlines: a request that nobody approved in time, and an approval that nobody ran in time, are void."""

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor, system
from replay import states
from replay.models import Replay

WATCH = system("watch")
EXPIRING = states.sources(states.REPLAY, "expired")


def expire_due() -> int:
    """Expire every replay whose deadline has passed before it ran; how many."""
    due = Replay.objects.filter(state__in=EXPIRING, expires_at__lte=timezone.now())
    return sum(expire(replay_id=replay_id, actor=WATCH) for replay_id in due.values_list("pk", flat=True))


@transaction.atomic
def expire(*, replay_id: int, actor: Actor) -> bool:
    """Expire one replay; False if somebody moved it meanwhile."""
    now = timezone.now()
    replay = Replay.objects.select_for_update(of=("self",)).select_related("flow").get(pk=replay_id)
    if replay.state not in EXPIRING or replay.expires_at > now:
        return False
    states.move(Replay.objects.filter(pk=replay.pk), "expired", moves=states.REPLAY, finished_at=now)
    journal.write(
        actor=actor,
        verb="expire",
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        replay_id=replay.pk,
        detail={"was": replay.state, "deadline": replay.expires_at.isoformat()},
    )
    return True
