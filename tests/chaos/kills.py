"""Whom to kill, when, and that they come back soon."""

import signal
import time
from collections import Counter
from random import Random

from console.demo.child import Child
from console.demo.run import Demo

OFTEN = ("service", "service-2", "intake", "worker", "watch")
SELDOM = ("Redis", "PostgreSQL", "Apache Kafka")
BETWEEN = (1.0, 5.0)
"""Seconds from one kill to the next: often the first victim is not back yet."""
AWAY = (0.1, 3.0)
"""Seconds until a killed process is started again."""


class Killer:
    """Kills (SIGKILL, with all that the victim started) and has the victims started again."""

    def __init__(self, demo: Demo, random: Random) -> None:
        self.demo = demo
        self.random = random
        self.killed: Counter[str] = Counter()
        self._due_at = 0.0

    def look(self, *, kill: bool) -> None:
        """One glance: names who died, starts who is due, and kills somebody where it is time."""
        self.demo.look()
        for child in self._children():
            if child.process is None:  # a demo waits longer each time; here dying is nobody's fault
                child.due_at = min(child.due_at, time.monotonic() + self.random.uniform(*AWAY))
        if kill and time.monotonic() >= self._due_at:
            self._due_at = time.monotonic() + self.random.uniform(*BETWEEN)
            self._kill()

    def _kill(self) -> None:
        names = OFTEN * 3 + SELDOM
        alive = {child.name: child for child in self._children() if child.running and child.name in names}
        victim = alive.get(self.random.choice(names))
        if victim is not None:
            self.killed[victim.name] += 1
            victim.signal(signal.SIGKILL)

    def _children(self) -> list[Child]:
        return [*self.demo.processes.children, *self.demo.server_watch.children]
