"""What a service can export about its consumer: plain numbers, and the text that Prometheus reads."""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from parking.consumer.aside import Aside
from parking.consumer.errors import Unavailable
from parking.consumer.event import Event
from parking.consumer.ledger.rows import Fate
from parking.consumer.watch import Watcher
from parking.record import Record

HOUR = 3600.0
HELP = {
    "applied_total": "events that took effect",
    "parked_total": "events that were parked as poison, or failed their replay",
    "parked_per_hour": "the same, within the last hour",
    "limited_total": "tries that were told to wait (429)",
    "limited_per_window": "the same, within the last window",
    "redelivered_total": "source records that came again after they were decided",
    "duplicates_total": "other records of an event that was decided: what idempotency absorbed",
    "in_flight": "events at work now",
    "oldest_unfinished_seconds": "age of the oldest event that was read and is unfinished",
    "oldest_unsent_seconds": "age of the oldest row of the outbox that is not published",
    "stopped_keys": "keys of which a row of the outbox could not be published when it was tried last",
}
OWN = "a gauge of the service's own"


class Recent:
    """How many things happened within the last so many seconds. At most 1 000 moments are kept apart."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._moments: deque[tuple[float, int]] = deque()

    def add(self, now: float) -> None:
        """One more, now."""
        moment = now - now % (self._seconds / 1000)
        if self._moments and self._moments[-1][0] >= moment:
            moment, count = self._moments.pop()
            self._moments.append((moment, count + 1))
        else:
            self._moments.append((moment, 1))

    def count(self, now: float) -> int:
        """How many there were."""
        while self._moments and self._moments[0][0] <= now - self._seconds:
            self._moments.popleft()
        return sum(count for _, count in self._moments)


class Counters(Watcher):
    """Counts while a consumer works. `window` is that of the 429s, in seconds. Safe for threads.

    `gauges` are read when somebody asks: in_flight, oldest_unfinished_seconds, oldest_unsent_seconds, stopped_keys, and
    whatever a service adds; one that raises something is logged and left out.
    """

    def __init__(self, *, window: float = 60.0, clock: Callable[[], float] = time.time) -> None:
        self.gauges: dict[str, Callable[[], float]] = {}
        self._clock = clock
        self._aside = Aside()
        self._lock = threading.Lock()
        self._totals = dict.fromkeys((name for name in HELP if name.endswith("_total")), 0)
        self._parked = Recent(HOUR)
        self._limited = Recent(window)

    def settled(self, event: Event, *, parked: bool) -> None:
        with self._lock:
            self._totals["parked_total" if parked else "applied_total"] += 1
            if parked:
                self._parked.add(self._clock())

    def limited(self, event: Event) -> None:
        with self._lock:
            self._totals["limited_total"] += 1
            self._limited.add(self._clock())

    def known(self, record: Record, fate: Fate) -> None:
        with self._lock:
            again = record.coordinates == fate.source
            self._totals["redelivered_total" if again else "duplicates_total"] += 1

    def values(self) -> dict[str, float]:
        """Every number by its name, see HELP; without a gauge that cannot be read now, say as the ledger is away."""
        with self._lock:
            now = self._clock()
            counted: dict[str, float] = {
                **self._totals,
                "parked_per_hour": self._parked.count(now),
                "limited_per_window": self._limited.count(now),
            }
        for name, gauge in self.gauges.items():
            self._aside(f"gauge {name}", partial(_read, counted, name, gauge))
        return counted

    def prometheus(self, flow: str) -> str:
        """The numbers in Prometheus' text format, with the flow as a label."""
        label = flow.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        lines = []
        for name, value in self.values().items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP siding_kit_{name} {HELP.get(name, OWN)}", f"# TYPE siding_kit_{name} {kind}"]
            lines.append(f'siding_kit_{name}{{flow="{label}"}} {value:g}')
        return "\n".join(lines) + "\n"


def _read(into: dict[str, float], name: str, gauge: Callable[[], float]) -> None:
    with suppress(Unavailable):
        into[name] = float(gauge())
