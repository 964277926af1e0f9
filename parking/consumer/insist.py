"""Trying again while ledger or broker are unavailable, and saying so once."""

import logging
from collections.abc import Callable
from typing import TypeVar

from parking.consumer.errors import Unavailable

T = TypeVar("T")
log = logging.getLogger("parking.consumer")


class Insist:
    """Calls until it works. The first failure of a kind is one line in the log, and so is the recovery."""

    def __init__(self, wait: Callable[[float], None], *, first: float = 0.2, longest: float = 5.0) -> None:
        self._wait = wait
        self._first = first
        self._longest = longest

    def __call__(self, call: Callable[[], T]) -> T:
        """What `call` returns once it does. `wait` may raise Interrupted."""
        pause, said = self._first, ""
        while True:
            try:
                result = call()
            except Unavailable as error:
                if str(error) != said:
                    said = str(error)
                    log.error("%s; trying again", said)
                self._wait(pause)
                pause = min(pause * 2, self._longest)
            else:
                if said:
                    log.warning("works again: %s", said.partition(":")[0])
                return result
