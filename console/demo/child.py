"""One process of the demo: its end, and when it is due again."""

import contextlib
import os
import signal
from collections.abc import Callable

from console.embedded.process import Process

CALM_SECONDS = 30.0  # alive for so long, a process has recovered: its next end counts as the first
LONGEST_PAUSE = 30.0

Start = Callable[[], Process]


class Child:
    """A process that `start` starts, as often as it must. Times are seconds of one clock that never goes back."""

    def __init__(self, name: str, start: Start) -> None:
        self.name = name
        self.process: Process | None = None
        self.due_at = 0.0
        self._start = start
        self._started_at = 0.0
        self._failures = 0

    def start(self, now: float) -> None:
        self._started_at = now
        self.process = self._start()

    def failed(self, now: float) -> float:
        """Count its end; returns the seconds until it is due again, more each time."""
        self.process = None
        self._failures = 1 if now - self._started_at > CALM_SECONDS else self._failures + 1
        pause = min(2.0 ** (self._failures - 1), LONGEST_PAUSE)
        self.due_at = now + pause
        return pause

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.running

    def signal(self, number: signal.Signals) -> None:
        """Signal all that it started, too; they share its session."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.popen.pid, number)
