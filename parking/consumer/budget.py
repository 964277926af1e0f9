"""For how long an event may be tried again and again."""

from collections.abc import Callable


class Budget:
    """What is left, once a first try has `failed`, for tries that count and the waits between them."""

    def __init__(self, seconds: float, now_ms: Callable[[], int], *, failed: bool) -> None:
        self._left = seconds * 1000
        self._now_ms = now_ms
        self._failed = failed
        self._since = now_ms()

    def begin(self) -> None:
        """A try begins; what was since the last one failed takes nothing."""
        self._since = self._now_ms()

    def spend(self, wait: float) -> bool:
        """The try failed. Whether another one may begin after a wait of so many seconds."""
        if self._failed:
            self._left -= self._now_ms() - self._since
        self._failed = True
        self._left -= wait * 1000
        return self._left >= 0
