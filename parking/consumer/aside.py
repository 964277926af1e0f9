"""What a service hangs onto the kit besides its handler (watchers, gauges, callbacks): its errors harm nobody."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

log = logging.getLogger("parking.consumer")
MOST_KINDS = 100
"""So many kinds of errors are told apart; of the others it is only said that they exist."""
ITS_OWN_CARE = "oauth_cb"
"""The callback of the Kafka client whose error the client itself turns into a failed login, and tries again."""


class Aside:
    """Calls what is none of the event's business. Safe for threads.

    Whatever it raises is logged with its traceback when it is raised there for the first time, and in one line for the
    10th, 100th, … time. Neither the event nor the consumer hears of it, also of what ends other programs (SystemExit,
    CancelledError); only KeyboardInterrupt passes, which is nobody's error.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: Counter[object] = Counter()

    def __call__(self, what: str, call: Callable[..., object], *arguments: Any, **named: Any) -> bool:
        """Call it; whether it returned. `what` says in the log what it is."""
        try:
            call(*arguments, **named)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 -- see above
            self.tell(what, error)
            return False
        return True

    def tell(self, what: str, error: BaseException) -> None:
        """Say what was raised, as far as it was not said."""
        known, times = self._count((what, type(error), _line(error)))
        kind = type(error).__name__
        if not known:
            if times == 1:
                log.error("%s: errors of more than %d kinds; no further kinds are told", what, MOST_KINDS)
        elif times == 1:
            log.error("%s raised %s; the work goes on without it", what, kind, exc_info=error)
        elif str(times).strip("0") == "1":
            log.error("%s raised %s at the same place for the %dth time", what, kind, times)

    def _count(self, kind: object) -> tuple[bool, int]:
        """Whether errors of the kind are counted apart, and how many there were."""
        with self._lock:
            known = kind in self._kinds or len(self._kinds) < MOST_KINDS
            counted = kind if known else None
            self._kinds[counted] += 1
            return known, self._kinds[counted]


def callbacks(kafka: Mapping[str, Any]) -> dict[str, Any]:
    """Client settings whose callbacks (`stats_cb`, …) harm nobody: what they raise would be raised out of the poll."""
    aside = Aside()
    return {
        name: partial(aside, f"the callback {name}", value) if _is_callback(name, value) else value
        for name, value in kafka.items()
    }


def _is_callback(name: str, value: object) -> bool:
    return callable(value) and (name.endswith("_cb") or name.startswith("on_")) and name != ITS_OWN_CARE


def _line(error: BaseException) -> object:
    """Where it was raised."""
    frames = error.__traceback__
    while frames and frames.tb_next:
        frames = frames.tb_next
    return frames and (frames.tb_frame.f_code.co_filename, frames.tb_lineno)
