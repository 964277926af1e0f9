"""A thread that publishes what somebody committed and did not get to publish: before a crash, or in an old owner."""

import threading
from functools import partial

from parking.consumer.errors import Interrupted
from parking.consumer.insist import Insist, survive
from parking.consumer.outbox import Outbox

SWEEP_SECONDS = 10.0


class Sweeper:
    """Looks through the whole outbox at start, after partitions have arrived, and now and then, until `stopping`."""

    def __init__(self, outbox: Outbox, stopping: threading.Event) -> None:
        self._outbox = outbox
        self._stopping = stopping
        self._asked = threading.Event()
        self._insist = Insist()
        self._behind = 0
        threading.Thread(target=self._run, name="siding outbox", daemon=True).start()

    def soon(self) -> None:
        """Look now: there may be something of a former owner of what has just become ours."""
        self._asked.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._asked.wait(SWEEP_SECONDS)
            try:
                self._insist.until_it_works(partial(survive, self._sweep), self._wait)
            except Interrupted:
                return

    def _sweep(self) -> None:
        """Publish what was due at the last look already, or everything where somebody asked.

        What has come since the last look is being published by whoever committed it. A look that fails counts: what
        one row holds up must not keep the next looks from what others left behind.
        """
        upto = None if self._asked.is_set() else self._behind
        self._asked.clear()
        try:
            self._outbox.publish(upto=upto)
        finally:
            self._behind = self._outbox.newest()

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted
