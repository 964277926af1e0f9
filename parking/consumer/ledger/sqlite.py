"""The ledger in SQLite: one writer at a time, so that BEGIN IMMEDIATE is the lock."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parking.consumer.ledger.pooled import PooledLedger
from parking.consumer.ledger.transaction import Execute

_LATER = {
    "no such table": "a table is missing: run ledger.prepare() and the service's own migrations",
    "unable to open database file": "the file cannot be opened: check the folder and its permissions",
    "database is locked": "another process held the lock for too long",
    "attempt to write a readonly database": "the file is read-only: check its permissions",
    "disk": "the disk is full or failing",
}


def clock() -> int:
    """SQLite's time is that of the process: milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class SqliteLedger(PooledLedger):
    """The ledger in the SQLite file at `path`. A process waits up to `patience` seconds for another one's lock."""

    schema = "sqlite"
    has_tables = "SELECT count(*) FROM sqlite_master WHERE name = 'siding_version'"
    for_update = ""

    def __init__(self, path: Path | str, *, patience: float = 30.0, clock: Callable[[], int] = clock) -> None:
        super().__init__()
        self._clock = clock
        self._path = Path(path)
        self._patience = patience

    def __str__(self) -> str:
        return f"SQLite {self._path}"

    def _connect(self) -> Any:
        connection = sqlite3.connect(
            self._path, timeout=self._patience, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.create_function("siding_now_ms", 0, self._clock)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # commit first, announce second: also through a power cut
        return connection

    def _begin(self, connection: Any, *, write: bool) -> None:
        if write:
            connection.execute("BEGIN IMMEDIATE")

    def _commit(self, connection: Any) -> None:
        connection.commit()

    def _execute(self, connection: Any) -> Execute:
        def execute(statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall(), cursor.rowcount

        return execute

    def _one_at_a_time(self, connection: Any) -> None:
        """BEGIN IMMEDIATE has done it."""

    def _explain(self, error: Exception) -> str | None:
        line = advice(error)
        return None if line is None else f"{self}: {line}"


def advice(error: BaseException | None) -> str | None:
    """What to do, and SQLite's own words, where the error means that the database cannot be used now."""
    if not isinstance(error, sqlite3.OperationalError):
        return None
    line = next((line for said, line in _LATER.items() if said in str(error)), None)
    return None if line is None else f"{line} ({error})"
