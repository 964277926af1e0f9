"""The ladder's modes as the ledger's database has them: read while running, so that going down is a write."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from parking.consumer.errors import Unavailable
from parking.consumer.ledger.ledger import Ledger

FALLBACK, SHADOW, AUTONOMOUS = "fallback", "shadow", "autonomous"
RUNGS = (FALLBACK, SHADOW, AUTONOMOUS)
"""From the lowest to the highest."""
KIT = "kit"
"""Who goes down by itself. Nobody goes up under this name."""
FLOW = ""

_NEWEST = (
    "SELECT scope, mode, who, why, at FROM siding_mode AS m WHERE flow = :flow AND sequence = "
    "(SELECT max(sequence) FROM siding_mode AS n WHERE n.flow = m.flow AND n.scope = m.scope)"
)
_HISTORY = "SELECT scope, mode, who, why, at FROM siding_mode WHERE flow = :flow ORDER BY sequence"
_WRITE = (
    "INSERT INTO siding_mode (flow, scope, mode, who, why, at) "
    "VALUES (:flow, :scope, :mode, :who, :why, siding_now_ms())"
)


@dataclass(frozen=True, slots=True)
class Change:
    """Who put a scope on a rung, why, and when (milliseconds since 1970)."""

    scope: str
    mode: str
    who: str
    why: str
    at: int


def event_type(name: str) -> str:
    """The scope of an event type."""
    return f"type:{name}"


def tenant(name: str) -> str:
    """The scope of a tenant."""
    return f"tenant:{name}"


class Modes:
    """The modes of one flow. `begins` is the flow's mode until somebody writes one; scopes without one follow the flow.

    What was read is believed for `believe` seconds. Safe for threads.
    """

    def __init__(
        self,
        flow: str,
        ledger: Ledger,
        *,
        begins: str = FALLBACK,
        believe: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._flow = flow
        self._ledger = ledger
        self._begins = _known(begins)
        self._believe = believe
        self._clock = clock
        self._lock = threading.Lock()
        self._read: dict[str, str] | None = None
        self._until = 0.0

    def of(self, scopes: Iterable[str] = ()) -> str:
        """The mode for an event of these scopes: the lowest of theirs and the flow's.

        Where the database cannot be read, what was read last still holds; raises Unavailable where nothing was.
        """
        modes = self._modes()
        return min((modes[FLOW], *(modes.get(scope, AUTONOMOUS) for scope in scopes)), key=RUNGS.index)

    def down(self, mode: str, *, why: str, who: str = KIT, scope: str = FLOW) -> bool:
        """Put the scope on a lower rung; whether it was higher. Anybody may, and so may the kit. Raises Unavailable."""
        if RUNGS.index(_known(mode)) >= RUNGS.index(self._now(scope)):
            return False
        self._write(scope, mode, who, why)
        return True

    def up(self, mode: str, *, who: str, why: str, scope: str = FLOW) -> None:
        """Put the scope on that rung, as the person who answers for it. Raises ValueError where none is named."""
        if not who.strip() or who == KIT or not why.strip():
            raise ValueError("going up takes a person (who) and a reason (why)")
        self._write(scope, _known(mode), who, why)

    def history(self) -> list[Change]:
        """Every change, oldest first. Raises Unavailable."""
        with self._ledger.transaction(self._flow, write=False) as transaction:
            rows, _ = transaction.execute(_HISTORY, {"flow": self._flow})
        return [Change(*row) for row in rows]

    def _now(self, scope: str) -> str:
        self._until = 0.0
        modes = self._modes()
        return modes.get(scope, modes[FLOW])

    def _modes(self) -> dict[str, str]:
        with self._lock:
            if self._read is None or self._clock() >= self._until:
                try:
                    self._read = {FLOW: self._begins, **self._select()}
                except Unavailable:
                    if self._read is None:
                        raise
                self._until = self._clock() + self._believe
            return self._read

    def _select(self) -> dict[str, str]:
        with self._ledger.transaction(self._flow, write=False) as transaction:
            rows, _ = transaction.execute(_NEWEST, {"flow": self._flow})
        return {scope: mode for scope, mode, *_ in rows}

    def _write(self, scope: str, mode: str, who: str, why: str) -> None:
        values = {"flow": self._flow, "scope": scope, "mode": mode, "who": who, "why": why}
        with self._ledger.transaction(self._flow) as transaction:
            transaction.execute(_WRITE, values)
        self._until = 0.0


def _known(mode: str) -> str:
    if mode not in RUNGS:
        raise ValueError(f"mode: expected one of {', '.join(RUNGS)}, arrived {mode!r}")
    return mode
