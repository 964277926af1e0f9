"""What the check says: a line for each thing it has checked, and what was not so."""

import time
from collections.abc import Callable
from typing import TypeVar

GLANCE = 0.1
Got = TypeVar("Got")


class Deviation(Exception):
    """Something is not as it must be. The message says what was expected and what is."""


class Report:
    """Counts what was checked. All waiting together ends `seconds` after the report was made."""

    def __init__(self, *, seconds: float, say: Callable[[str], None] = print) -> None:
        self.began = time.monotonic()
        self.until = self.began + seconds
        self.say = say
        self.checked = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def chapter(self, title: str) -> None:
        self.say(f"\n{title}")

    def so(self, what: str) -> None:
        """Say that something was checked and is so."""
        self.checked += 1
        self.say(f"  ✓ {self.seconds:5.1f} s  {what}")

    def same(self, what: str, *, expected: object, actual: object) -> None:
        """Raises Deviation where the two differ."""
        if expected != actual:
            raise Deviation(f"{what}:\n      expected {expected!r}\n      found    {actual!r}")
        self.so(what)

    def wait(self, what: str, look: Callable[[], Got], holds: Callable[[Got], bool]) -> Got:
        """Look until it holds; returns what was seen. Raises Deviation when the time of the whole check is over."""
        seen = look()
        while not holds(seen):
            if time.monotonic() > self.until:
                raise Deviation(f"{what}: not so after {self.seconds:.0f} s; last seen: {seen!r}")
            time.sleep(GLANCE)
            seen = look()
        self.so(what)
        return seen

    def wait_same(self, what: str, look: Callable[[], object], expected: object) -> None:
        """Look until it is as expected. Raises Deviation with the difference when the time is over."""
        while (seen := look()) != expected and time.monotonic() < self.until:
            time.sleep(GLANCE)
        self.same(what, expected=expected, actual=seen)
