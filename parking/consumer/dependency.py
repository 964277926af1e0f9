"""What handlers depend on: a model, another service. Who needs one that asked for a pause, or is broken, waits."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from parking.consumer.breaker import Breaker
from parking.consumer.errors import RateLimited
from parking.consumer.event import Event

LOOK_AGAIN = 1.0
"""Seconds after which an event looks again at a breaker: it may have closed earlier than announced."""


def everything(event: Event) -> bool:
    """Every event needs it."""
    return True


@dataclass(slots=True)
class Dependency:
    """Something that the handling of some events needs. Times are seconds of the kit's clock. Safe for threads.

    `needed_by` says of which events. `failures` are the exceptions that speak against the dependency, not the event.
    """

    name: str
    needed_by: Callable[[Event], bool] = everything
    breaker: Breaker | None = None
    failures: tuple[type[Exception], ...] = (ConnectionError, TimeoutError)
    _paused_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        """Whether its breaker stops calls."""
        return self.breaker is not None and self.breaker.is_open

    def pause(self, until: float) -> None:
        """Nothing that needs it starts before that time."""
        with self._lock:
            self._paused_until = max(self._paused_until, until)

    def wait(self, now: float) -> float:
        """Seconds that an event that needs it has to wait; 0 = go on now."""
        with self._lock:
            if now < self._paused_until:
                return self._paused_until - now
            return min(self.breaker.wait(now), LOOK_AGAIN) if self.breaker else 0.0

    def judge(self, error: Exception | None, now: float) -> bool:
        """A try that needed it ended. Whether its failure was to be expected: such a try spends no attempt."""
        with self._lock:
            if self.breaker is None:
                return False
            if isinstance(error, self.failures):
                return self.breaker.failed(now)
            self.breaker.succeeded()
            return False

    def in_a_row(self, error: Exception) -> int:
        """How many failures in a row speak against it, this one the last; 0 where this one does not."""
        with self._lock:
            return self.breaker.in_a_row if self.breaker and isinstance(error, self.failures) else 0


class Doubt:
    """Whether one event's failures are its own, or of something that it needs and that is about to be known as away."""

    def __init__(self) -> None:
        self._ours = 0

    def remains(self, needed: Sequence[Dependency], error: Exception) -> bool:
        """One more failure: whether a dependency that it speaks against has worked for nobody since the first one."""
        in_a_row = max((dependency.in_a_row(error) for dependency in needed), default=0)
        self._ours = self._ours + 1 if in_a_row else 0
        return 0 < self._ours <= in_a_row


class Dependencies:
    """The dependencies of a flow; the flow itself is one, for events that need no other."""

    def __init__(self, flow: str, dependencies: Sequence[Dependency] = ()) -> None:
        self._all = tuple(dependencies)
        self._flow = Dependency(flow)

    @property
    def declared(self) -> bool:
        """Whether an event may need anything but the flow."""
        return bool(self._all)

    def needed(self, event: Event) -> list[Dependency]:
        """What the event needs, the flow last. Raises whatever a `needed_by` raises."""
        return [*(dependency for dependency in self._all if dependency.needed_by(event)), self._flow]

    def limited(self, needed: Sequence[Dependency], limit: RateLimited, now: float) -> None:
        """A try was told to wait: so does everything that needs the same. Nobody else needs what nobody declared."""
        named = needed[:1] if limit.dependency is None else [d for d in self._all if d.name == limit.dependency]
        for dependency in named:
            dependency.pause(now + limit.retry_after)


def wait(needed: Sequence[Dependency], now: float) -> float:
    """Seconds that an event has to wait before it is tried; 0 = try it now."""
    for dependency in reversed(needed):
        if (seconds := dependency.wait(now)) > 0:
            return seconds
    return 0.0


def judge(needed: Sequence[Dependency], error: Exception | None, now: float) -> bool:
    """A try ended, well (None) or not. Whether its failure was to be expected, so that it spends no attempt."""
    expected = [dependency.judge(error, now) for dependency in needed]
    return any(expected)
