"""One worker per replay: a lease with an epoch that rises with every taking.

Everything that a worker writes goes through `held`: it locks the replay's row and looks whether the epoch is still its
own, so a worker that was slow, killed or cut off can change nothing. Time is the database's; the time left for sending
is counted on the worker's own monotonic clock, from before the lease was taken.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from replay.models import Replay
from replay.states import FROZEN

# A message that comes a little early, because clocks differ, is not dropped.
EARLY = timedelta(milliseconds=50)


class LeaseLost(Exception):
    """Another worker has taken the replay; whatever this one wanted to write, it must not."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive one replay until `deadline` (this process's monotonic clock, seconds)."""

    replay_id: int
    epoch: int
    deadline: float

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.monotonic()


def take(replay_id: int, owner: str) -> Lease | None:
    """The lease, if the replay has to be driven now and nobody else holds it."""
    deadline = time.monotonic() + settings.REPLAY_LEASE_SECONDS
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=Now())
    due = Q(due_at__isnull=True) | Q(due_at__lte=Now() + EARLY)
    with transaction.atomic():
        rows = Replay.objects.select_for_update().filter(free, due, pk=replay_id, state__in=FROZEN)
        replay = rows.first()
        if replay is None:
            return None
        Replay.objects.filter(pk=replay_id).update(
            lease_owner=owner[:200],
            lease_epoch=replay.lease_epoch + 1,
            lease_until=Now() + timedelta(seconds=settings.REPLAY_LEASE_SECONDS),
        )
    return Lease(replay_id, replay.lease_epoch + 1, deadline)


@contextmanager
def held(lease: Lease) -> Iterator[Replay]:
    """The replay, its row locked, in one transaction. Raises LeaseLost if another worker has taken it."""
    with transaction.atomic():
        rows = Replay.objects.select_for_update(of=("self",)).select_related("flow__cluster", "quarantine__hold_key")
        replay = rows.filter(pk=lease.replay_id, lease_epoch=lease.epoch).first()
        if replay is None:
            raise LeaseLost(f"replay {lease.replay_id}: epoch {lease.epoch} is over")
        yield replay


def give_back(lease: Lease, *, due_in: float | None) -> None:
    """Let the replay go; `due_in` seconds is when a worker should look again (None: when somebody wakes it)."""
    due = None if due_in is None else Now() + timedelta(seconds=due_in)
    Replay.objects.filter(pk=lease.replay_id, lease_epoch=lease.epoch).update(lease_until=None, due_at=due)
