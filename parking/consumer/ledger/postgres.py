"""The ledger in PostgreSQL, with psycopg 3, READ COMMITTED and row locks."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from parking.consumer.ledger.pooled import PooledLedger
from parking.consumer.ledger.transaction import Execute

SCHEMA_LOCK = 0x51D1_4E61
NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
"""The database's time when the statement asks, not when its transaction began: it may have waited for a lock."""
_LATER = {
    "08": "the connection was lost",
    "28": "the login was refused: check user and password",
    "3D": "the database does not exist: create it or correct its name",
    "40": "the transaction lost against another one",
    "53": "the server is short of resources",
    "55": "a lock was not granted in time",
    "57P": "the server is shutting down or starting",
    "42P01": "a table is missing: run ledger.prepare() and the service's own migrations",
    "42501": "a permission is missing: grant this user the tables",
    "25006": "the database is read-only: connect to the primary",
}
"""SQLSTATEs, or their beginnings, after which the same work will succeed once somebody has acted."""


class PostgresLedger(PooledLedger):
    """The ledger in the PostgreSQL database of `conninfo` (a libpq connection string or URL)."""

    schema = "postgresql"
    has_tables = "SELECT to_regclass('siding_version') IS NOT NULL"
    for_update = " FOR UPDATE"

    def __init__(self, conninfo: str) -> None:
        super().__init__()
        self._conninfo = conninfo

    def __str__(self) -> str:
        at = conninfo_to_dict(self._conninfo)
        return f"PostgreSQL {at.get('host', 'localhost')}:{at.get('port', 5432)}/{at.get('dbname', '')}"

    def _connect(self) -> Any:
        connection = psycopg.connect(make_conninfo("connect_timeout=5", **conninfo_to_dict(self._conninfo)))
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        return connection

    def _begin(self, connection: Any, *, write: bool) -> None:
        connection.autocommit = not write  # a single read needs no BEGIN and COMMIT of its own

    def _commit(self, connection: Any) -> None:
        connection.commit()

    def _execute(self, connection: Any) -> Execute:
        def execute(statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]:
            cursor = connection.execute(for_psycopg(statement), parameters)
            return (cursor.fetchall() if cursor.description else []), cursor.rowcount

        return execute

    def _one_at_a_time(self, connection: Any) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK])

    def _explain(self, error: Exception) -> str | None:
        line = advice(error)
        return None if line is None else f"{self}: {line}"


def advice(error: BaseException | None) -> str | None:
    """What to do, and psycopg's own words, where the error means that the database cannot be used now."""
    if not isinstance(error, psycopg.Error):
        return None
    state = error.sqlstate or ""
    said = " ".join(str(error).split())
    if not state:
        line = _login(said) if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
    else:
        line = next((line for start, line in _LATER.items() if state.startswith(start)), None)
    return None if line is None else f"{line} ({said[:300]})"


def _login(said: str) -> str:
    """What to do about an error of libpq's own, which has no SQLSTATE."""
    if "authentication failed" in said or "no password supplied" in said:
        return _LATER["28"]
    if "does not exist" in said:
        return "the login was refused: create the database or the user, or correct the name"
    return "cannot be reached: check the address and that the server runs"


@cache
def for_psycopg(statement: str) -> str:
    """A statement of the kit in PostgreSQL's words: the names of types, the clock, and the parameters."""
    typed = statement.replace("AS blob)", "AS bytea)").replace("AS integer)", "AS bigint)")
    return named(typed.replace("siding_now_ms()", NOW))


@cache
def named(statement: str) -> str:
    """The statement with named parameters as psycopg, and Django for every database, write them."""
    return re.sub(r":([a-z_]+)", r"%(\1)s", statement)
