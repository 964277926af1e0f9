"""Group commit: live successes that are ready at the same time share one transaction."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import Transaction

Apply = Callable[[Transaction], bool]
"""Writes one event's fate and effect in a transaction; whether it did. May be run again after a rollback."""
Commit = Callable[[Apply], bool]
MOST = 100


def alone(ledger: Ledger, flow: str, apply: Apply) -> bool:
    """One transaction for one event. Raises Unavailable, and whatever `apply` raises."""
    with ledger.transaction(flow) as transaction:
        return apply(transaction)


@dataclass(slots=True, eq=False)
class _Waiting:
    apply: Apply
    applied: bool | None = None


class Together:
    """Commits for one flow. Whoever comes while a transaction runs goes into the next one, all together.

    If anything in a shared transaction fails, it is rolled back and each event goes alone, so that nobody fails, or
    spends an attempt, because of another. Safe for threads.
    """

    def __init__(self, flow: str, ledger: Ledger) -> None:
        self._flow = flow
        self._ledger = ledger
        self._waiting: list[_Waiting] = []
        self._turn = threading.Lock()

    def commit(self, apply: Apply) -> bool:
        """What `apply` returns once its transaction is committed. Raises Unavailable, and whatever it raises."""
        mine = _Waiting(apply)
        self._waiting.append(mine)
        with self._turn:
            while mine in self._waiting:  # behind a hundred others it is not in the first batch
                batch, self._waiting[:MOST] = self._waiting[:MOST], []
                if batch == [mine]:
                    return alone(self._ledger, self._flow, apply)
                self._share(batch)
        return alone(self._ledger, self._flow, apply) if mine.applied is None else mine.applied

    def _share(self, batch: list[_Waiting]) -> None:
        """One transaction for all; on any error none of them is applied."""
        try:
            with self._ledger.transaction(self._flow) as transaction:
                applied = [waiting.apply(transaction) for waiting in batch]
        except Exception:  # noqa: BLE001 -- each finds out alone what is wrong with it
            return
        for waiting, result in zip(batch, applied, strict=True):
            waiting.applied = result
