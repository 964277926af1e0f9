"""What the watch does about pointers that intake could not follow: it tries them again, so that nobody has to."""

import time
from collections.abc import Callable
from itertools import groupby

from parking.actor import system
from parking.fetch import PIECES, fetch_each
from parking.models import EventState

AT_ONCE = 100
SECONDS = 5.0
"""For all that is tried in one round: the alarms wait behind it."""
FIRST, LONGEST = 60.0, 3600.0


class Walk:
    """Walks over all events that are still to be fetched, the oldest first, a few in each round.

    What came meanwhile is tried in the next round. All others have their turn again after a pause, which doubles from
    a minute to an hour while nothing is found: most of what is gone stays gone. `clock` gives seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._after = 0
        self._pause = FIRST
        self._again_at = clock() + FIRST

    def fetch_late(self) -> int:
        """A few more; how many of them have their key and value now."""
        batch = self._next()
        if not batch and self._clock() >= self._again_at:
            self._after = 0
            self._again_at = self._clock() + self._pause
            self._pause = min(2 * self._pause, LONGEST)
            batch = self._next()
        fetched = _fetch(batch)
        if fetched:
            self._pause = FIRST
        return fetched

    def _next(self) -> list[EventState]:
        rows = EventState.objects.to_be_fetched(after=self._after).select_related(*PIECES)
        batch = list(rows[:AT_ONCE])
        self._after = batch[-1].pk if batch else self._after
        return batch


def _fetch(batch: list[EventState]) -> int:
    clusters = [list(part) for _, part in groupby(sorted(batch, key=_cluster), key=_cluster)]
    return sum(fetch_each(part, seconds=SECONDS / len(clusters), actor=system("watch")) for part in clusters)


def _cluster(event: EventState) -> int:
    return event.event.cluster_id
