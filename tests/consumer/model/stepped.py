"""Two transactions on PostgreSQL, one statement at a time, in every order that their locks allow.

Each runs in a thread of its own on a connection of its own, and stands still before each statement and before its
commit. Who waits for the other one's lock is asked of PostgreSQL itself.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg

from parking.consumer.ledger.postgres import PostgresLedger

LATE = 60.0


class Stepped(PostgresLedger):
    """A ledger that asks `turn` before each statement and each commit of its writes."""

    turn: "Turn | None" = None

    def _execute(self, connection: Any) -> Any:
        run = super()._execute(connection)

        def execute(statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]:
            if self.turn is None:
                return run(statement, parameters)
            ran: tuple[Sequence[Sequence[Any]], int]
            ran = self.turn.take(connection, lambda: run(statement, parameters))
            return ran

        return execute

    def _commit(self, connection: Any) -> None:
        if self.turn is None or connection.autocommit:
            super()._commit(connection)
        else:
            self.turn.take(connection, lambda: super(Stepped, self)._commit(connection))


class Turn:
    """Lets one thread do one thing at a time. `pid` is the backend's that it uses."""

    def __init__(self) -> None:
        self.may, self.arrived = threading.Semaphore(0), threading.Semaphore(0)
        self.pid = 0
        self.over = self.waits = False

    def take(self, connection: Any, act: Callable[[], Any]) -> Any:
        self.pid = connection.info.backend_pid
        self.arrived.release()
        assert self.may.acquire(timeout=LATE), "nobody gave the turn"
        return act()


class Pair:
    """Two pieces of work, each on its own ledger, run in one order of their statements."""

    def __init__(self, ledgers: Sequence[Stepped], monitor: "psycopg.Connection[Any]") -> None:
        self._ledgers = ledgers
        self._monitor = monitor

    def run(self, work: Sequence[Callable[[], object]], order: Sequence[int]) -> list[int]:
        """Run both to their ends, by `order` as far as it goes: 0 lets the one that acted go on, 1 the other one.
        Returns for each choice how many there were. Raises what the work raised."""
        turns = [Turn(), Turn()]
        errors: list[BaseException] = []
        threads = [
            threading.Thread(target=self._thread, args=(n, turns[n], work[n], errors), daemon=True) for n in (0, 1)
        ]
        for thread in threads:
            thread.start()
        for turn in turns:
            self._settle(turn)
        choices: list[int] = []
        acted = turns[0]
        while ready := [turn for turn in turns if not turn.over and not turn.waits]:
            ready.sort(key=lambda turn: turn is not acted)
            pick = order[len(choices)] if len(choices) < len(order) else 0
            choices.append(len(ready))
            acted = ready[pick]
            self._act(acted)
            for turn in turns:
                if turn.waits:
                    self._settle(turn)
        for thread in threads:
            thread.join(LATE)
        if errors:
            raise errors[0]
        return choices

    def _thread(self, number: int, turn: Turn, work: Callable[[], object], errors: list[BaseException]) -> None:
        ledger = self._ledgers[number]
        ledger.turn = turn
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            ledger.turn = None
            turn.over = True
            turn.arrived.release()

    def _act(self, turn: Turn) -> None:
        turn.may.release()
        self._settle(turn)

    def _settle(self, turn: Turn) -> None:
        """Wait until the thread stands before its next statement, is over, or waits for a lock of the other one."""
        deadline = time.monotonic() + LATE
        while not turn.arrived.acquire(timeout=0.002):
            assert time.monotonic() < deadline, "neither done nor waiting"
            turn.waits = bool(self._blocked(turn.pid))
            if turn.waits:
                return
        turn.waits = False

    def _blocked(self, pid: int) -> list[int]:
        row = self._monitor.execute("SELECT pg_blocking_pids(%s)", [pid]).fetchone()
        return list(row[0]) if row else []


def orders(run: Callable[[Sequence[int]], list[int]], *, switches: int) -> Iterator[list[int]]:
    """Every order in which one is left for the other, although it could go on, at most so many times.

    `run(order)` runs one and tells how many choices there were at each point.
    """
    todo: list[list[int]] = [[]]
    while todo:
        order = todo.pop()
        choices = run(order)
        whole = order + [0] * (len(choices) - len(order))
        yield whole
        for place in range(len(order), len(choices)) if sum(whole) < switches else ():
            todo += [[*whole[:place], other] for other in range(1, choices[place])]
