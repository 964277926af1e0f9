"""Keeps processes running: names the one that dies, starts it again, and ends all of them together."""

import signal
import time
from collections.abc import Callable

from console.demo.child import Child
from console.embedded.process import Process

PATIENCE = 8.0  # seconds that processes may take to end by themselves
GLANCE = 0.05


def meaning(status: int) -> str:
    """An exit status in words."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


class Supervisor:
    """The processes of one demo. `say` shows a text of one or more lines; `deaths` has the name of each that died."""

    def __init__(self, say: Callable[[str], None], *, patience: float = PATIENCE) -> None:
        self.say = say
        self.patience = patience
        self.children: list[Child] = []
        self.deaths: list[str] = []

    def start(self, child: Child) -> None:
        """Start and watch it. From the main thread only: the kernel ends a process with the thread that started it."""
        self.children.append(child)
        child.start(time.monotonic())

    def adopt(self, child: Child, process: Process) -> None:
        """Watch what was started elsewhere; if it dies, it is started again here."""
        child.process = process
        self.children.append(child)

    def look(self) -> None:
        """Name every process that has died since the last look, and start what is due again."""
        now = time.monotonic()
        for child in self.children:
            if child.process is None and now >= child.due_at:
                child.start(now)
            elif child.process and not child.process.running:
                self._tell(child, child.process, now)

    def _tell(self, child: Child, process: Process, now: float) -> None:
        self.deaths.append(child.name)
        end, tail = meaning(process.popen.returncode), process.log_tail()
        child.signal(signal.SIGKILL)  # what it had started
        self.say(f"{child.name} {end}; it starts again in {child.failed(now):g} s.\n{tail}\n")

    def stop(self) -> None:
        """End all of them at once, and by force what does not end in time; returns when nothing is left."""
        for child in self.children:
            child.signal(signal.SIGTERM)
        self._wait()
        for child in self.children:
            if child.running:
                self.say(f"{child.name} did not end within {self.patience:g} s and is killed\n")
            child.signal(signal.SIGKILL)
        self._wait()
        self.children.clear()

    def _wait(self) -> None:
        until = time.monotonic() + self.patience
        while time.monotonic() < until and any(child.running for child in self.children):
            time.sleep(GLANCE)
