"""A ledger whose database can be put into any state, and which runs one transaction of a call at a time.

What a process of the consumer knows is what its statements returned (and what its handler decided). So a call that is
interrupted between two transactions is known by its transcript: it is carried on by running the real code again from
its beginning, feeding it the recorded answers, until it reaches the next transaction, which runs on the state of now.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.consumer.model.kit import Kit

TABLES = ("siding_hold", "siding_fate", "siding_announcement", "effect", "siding_forgotten")
EFFECT = "CREATE TABLE effect (event_id text NOT NULL, value blob, token integer NOT NULL)"

State = tuple[tuple[tuple[Any, ...], ...], ...]
"""The rows of each table, and the last sequence number of the outbox."""
EMPTY: State = ((), (), (), (), (), ((0,),))
Transcript = tuple[Any, ...]


class Paused(BaseException):
    """The call has come to its next step, which waits for its turn. `kind` says what it is."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Database:
    """The tables of the kit and of the service, in memory."""

    def __init__(self, kit: Kit) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=500)
        self.connection.create_function("siding_now_ms", 0, lambda: 1)
        for version in range(1, kit.VERSION + 1):
            for statement in kit.statements_of("sqlite", version):
                self.connection.execute(statement)
        self.connection.execute(EFFECT)
        self._is: State = EMPTY

    def load(self, state: State) -> None:
        """Make the tables hold exactly these rows."""
        for table, before, wanted in zip(TABLES, self._is, state, strict=False):
            if before != wanted:
                self.connection.execute(f"DELETE FROM {table}")
                for row in wanted:
                    self.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        self.connection.execute("DELETE FROM sqlite_sequence")
        self.connection.execute("INSERT INTO sqlite_sequence VALUES ('siding_announcement', ?)", state[-1][0])
        self._is = state

    def state(self) -> State:
        tables = tuple(tuple(sorted(self._rows(table), key=repr)) for table in TABLES)
        last = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'siding_announcement'").fetchone()
        self._is = (*tables, (tuple(last),))
        return self._is

    def _rows(self, table: str) -> Sequence[tuple[Any, ...]]:
        return self.connection.execute(f"SELECT * FROM {table}").fetchall()


class Ignored:
    """The connection of a transaction that has been committed before."""

    def execute(self, *_: Any) -> None:
        return None


class Call:
    """One call of the real code: answers the recorded steps, runs one more, and stops before the one behind it."""

    def __init__(self, transcript: Transcript, choice: str) -> None:
        self._recorded = transcript
        self._choice = choice
        self._live = True
        self._place = 0
        self.publishing = False
        self.added: list[Any] = []
        self.published: tuple[bytes, Any] | None = None

    @property
    def transcript(self) -> Transcript:
        return (*self._recorded, *(tuple(step) if isinstance(step, list) else step for step in self.added))

    def next(self, kind: str) -> Any | None:
        """The recorded answer of this step, or None where it runs now. Raises Paused where it has to wait."""
        if len(self._recorded) > self._place:
            self._place += 1
            return self._recorded[self._place - 1]
        if not self._live:
            raise Paused("outbox" if self.publishing and kind == "transaction" else kind)
        self._live = False
        return None

    def decided(self) -> str:
        """What the handler decides: not a step of its own, since nobody sees it before the commit gate."""
        if len(self._recorded) > self._place:
            self._place += 1
            return str(self._recorded[self._place - 1])
        if not self._live or not self._choice:
            raise Paused("handler")
        choice, self._choice = self._choice, ""
        self.added.append(choice)
        return choice

    def later(self) -> None:
        """Time passes until the record is looked at again: a step of its own, that leaves no trace but itself."""
        if len(self._recorded) > self._place:
            self._place += 1
        elif self._choice == "again":
            self._choice = ""
            self.added.append("again")
        else:
            raise Paused("later")

    def publish(self, hold_key: bytes, wire: Any) -> None:
        """The kit's publisher: acknowledged at once, or the process dies before or after (the search decides)."""
        if self.next("publish") is None:
            self.published = (hold_key, wire)
            self.added.append("published")


def ledger(kit: Kit, database: Database) -> Any:
    """A Ledger of that kit on the database; `ledger.call` is the call whose transactions it runs."""

    class Memory(kit.Ledger):  # type: ignore[misc, name-defined]
        schema, has_tables, for_update = "sqlite", "SELECT 1", ""
        call: Call

        @contextmanager
        def transaction(self, flow: str, *, write: bool = True) -> Iterator[Any]:
            recorded = self.call.next("transaction")
            if recorded is not None:
                answers = iter(recorded)
                yield kit.Transaction(flow, Ignored(), lambda *_: next(answers), for_update="")
                return
            heard: list[tuple[Sequence[Any], int]] = []
            self.call.added.append(heard)

            def execute(statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]:
                cursor = database.connection.execute(statement, parameters)
                heard.append((tuple(cursor.fetchall()), cursor.rowcount))
                return heard[-1]

            database.connection.execute("BEGIN")
            try:
                yield kit.Transaction(flow, database.connection, execute, for_update="")
            except BaseException:
                database.connection.execute("ROLLBACK")
                raise
            database.connection.execute("COMMIT")

        def close(self) -> None: ...
        def _session(self, *, write: bool) -> Any: ...
        def _execute(self, connection: Any) -> Any: ...
        def _one_at_a_time(self, connection: Any) -> None: ...
        def _explain(self, error: Exception) -> str | None: ...

    return Memory()
