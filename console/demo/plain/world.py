"""What happens outside: a gentle stream of events, and now and then something wrong. Pure."""

import itertools
from random import Random

from console.demo.plain.events import RIGHT, WRONG, Sent

FIRST_FAILURE, SLOWER, LONGEST_PAUSE = 15.0, 1.5, 3600.0  # a console that nobody looks after must not drown
NUMBERS = range(80_000, 89_999)


class World:
    """What is sent to one service."""

    def __init__(self, flow: str, random: Random) -> None:
        self._right, self._random = RIGHT[flow], random
        self._wrong = itertools.cycle(WRONG[flow])
        self._pause, self._last = FIRST_FAILURE * random.random(), 0.0

    def moment(self, now: float) -> Sent:
        """What is sent at `now`, in seconds since the beginning."""
        make = self._right
        if now - self._last >= self._pause:
            self._last, self._pause = now, min(max(self._pause, FIRST_FAILURE) * SLOWER, LONGEST_PAUSE)
            make = next(self._wrong)
        return make(self._random, self._random.choice(NUMBERS))
