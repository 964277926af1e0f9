"""What handlers depend on: a model, another service. Who needs one that asked for a pause, or is broken, waits."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from parking.consumer.breaker import Breaker
from parking.consumer.errors import RateLimited
from parking.consumer.event import Event

log = logging.getLogger("parking.consumer")
LOOK_AGAIN = 1.0
"""Seconds after which an event looks again at a breaker: it may have closed earlier than announced."""
TURNS = 10
"""Of the events that found a dependency away, the last ones let the others try first, in turn."""


def everything(event: Event) -> bool:
    """Every event needs it."""
    return True


@dataclass(slots=True)
class Dependency:
    """Something that the handling of some events needs. Times are seconds of the kit's clock. Safe for threads.

    `needed_by` says of which events. `failures` are the exceptions that speak against the dependency, not the event.
    While it works for nobody, an event may find it away behind the open breaker `patience` times at no cost, times the
    number of events that find it away; what fails after them is the event's own.
    """

    name: str
    needed_by: Callable[[Event], bool] = everything
    breaker: Breaker | None = None
    failures: tuple[type[Exception], ...] = (ConnectionError, TimeoutError)
    patience: int = 20
    _found: dict[str, int] = field(default_factory=dict)  # how often each event found it away, since it last worked
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

    def wait(self, event_id: str, now: float) -> float:
        """Seconds that an event that needs it has to wait; 0 = go on now. Who found it away lets others go first."""
        with self._lock:
            if now < self._paused_until:
                return self._paused_until - now
            return min(self.breaker.wait(now, after=self._after(event_id)), LOOK_AGAIN) if self.breaker else 0.0

    def judge(self, event_id: str, error: Exception | None, now: float) -> bool:
        """A try that needed it ended. Whether its failure was to be expected: such a try spends no attempt."""
        with self._lock:
            if self.breaker is None:
                return False
            before = self.breaker.is_open
            if not isinstance(error, self.failures):
                self.breaker.succeeded()
                self._found.clear()
                if before:
                    log.warning("dependency %s works again", self.name)
                return False
            expected = self.breaker.failed(now)
            if self.breaker.is_open and not before:
                log.warning("dependency %s is away: %s; what needs it waits", self.name, type(error).__name__)
            self._found[event_id] = self._found.pop(event_id, 0) + expected  # the last one of them now
            return expected and self._speaks_against_it(event_id, tell=True)

    def in_a_row(self, event_id: str, error: Exception) -> int:
        """How many failures in a row speak against it, this one the last; 0 where this one does not."""
        with self._lock:
            against = self.breaker and isinstance(error, self.failures) and self._speaks_against_it(event_id)
            return self.breaker.in_a_row if self.breaker and against else 0

    def _after(self, event_id: str) -> float:
        """Seconds that it lets others go first: those that did not find it away yet, then those that did so earlier."""
        if event_id not in self._found:
            return 0.0
        latest = list(islice(reversed(self._found), TURNS))
        return LOOK_AGAIN * (len(latest) - latest.index(event_id) if event_id in latest else 1)

    def _speaks_against_it(self, event_id: str, *, tell: bool = False) -> bool:
        """Whether a failure of that event does, and not against the event itself, which found it away too often."""
        found, most = self._found.get(event_id, 0), self.patience * len(self._found)
        if tell and found == most + 1:
            text = "event %.200r found dependency %s away %d times; from now on these are its own failed attempts"
            log.warning(text, event_id, self.name, found)
        return found <= most


class Doubt:
    """Whether one event's failures are its own, or of something that it needs and that is about to be known as away."""

    def __init__(self) -> None:
        self._ours = 0

    def remains(self, needed: Sequence[Dependency], event_id: str, error: Exception) -> bool:
        """One more failure: whether a dependency that it speaks against has worked for nobody since the first one."""
        in_a_row = max((dependency.in_a_row(event_id, error) for dependency in needed), default=0)
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


def wait(needed: Sequence[Dependency], event_id: str, now: float) -> float:
    """Seconds that an event has to wait before it is tried; 0 = try it now."""
    for dependency in reversed(needed):
        if (seconds := dependency.wait(event_id, now)) > 0:
            return seconds
    return 0.0


def judge(needed: Sequence[Dependency], event_id: str, error: Exception | None, now: float) -> bool:
    """A try ended, well (None) or not. Whether its failure was to be expected, so that it spends no attempt."""
    expected = [dependency.judge(event_id, error, now) for dependency in needed]
    return any(expected)
