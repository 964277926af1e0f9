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
        threading.Thread(target=self._run, name="siding outbox", daemon=True).start()

    def soon(self) -> None:
        """Look now: there may be something of a former owner of what has just become ours."""
        self._asked.set()

    def _run(self) -> None:
        behind = 0
        while not self._stopping.is_set():
            upto = None if self._asked.wait(SWEEP_SECONDS) else behind
            self._asked.clear()
            try:
                behind = self._insist.until_it_works(partial(survive, partial(self._sweep, upto)), self._wait)
            except Interrupted:
                return

    def _sweep(self, upto: int | None) -> int:
        """Publish what is due up to that sequence number, or everything; the highest number there is afterwards.

        What has come since the last look is being published by whoever committed it.
        """
        self._outbox.publish(upto=upto)
        return self._outbox.newest()

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted
