"""The kit's ledger on Django's own connection: an event's fate and what the ORM writes are one transaction.

    ledger = DjangoLedger()  # or DjangoLedger(using="orders")

The write that a handler returns may use the ORM of that database; it is given Django's connection and may ignore it.
Tables: `ledger.prepare()` at start, or a migration of the service's own with `RunSQL` of each
`parking.consumer.ledger.ledger.schema("postgresql", version)`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.utils import Error
from psycopg import IsolationLevel

from parking.consumer.ledger import postgres, sqlite
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import Execute

_KINDS: Mapping[str, type[Ledger]] = {"postgresql": postgres.PostgresLedger, "sqlite": sqlite.SqliteLedger}
_SQLITE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS integer)"


class DjangoLedger(Ledger):
    """The ledger in the database of the alias `using`. Each thread has its own connection, as always in Django.

    Raises ImproperlyConfigured for a database that is neither PostgreSQL nor SQLite, and for PostgreSQL with another
    isolation level than READ COMMITTED, on which the gate is built.
    """

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using
        settings, vendor = connections[using].settings_dict, connections[using].vendor
        if vendor not in _KINDS:
            raise ImproperlyConfigured(f"ledger: database {using!r}: expected PostgreSQL or SQLite, arrived {vendor}")
        level = settings.get("OPTIONS", {}).get("isolation_level", IsolationLevel.READ_COMMITTED)
        if vendor == "postgresql" and level != IsolationLevel.READ_COMMITTED:
            raise ImproperlyConfigured(f"ledger: database {using!r}: leave its isolation_level at READ COMMITTED")
        self.schema, self.has_tables = _KINDS[vendor].schema, _KINDS[vendor].has_tables
        self.for_update = _KINDS[vendor].for_update
        self._translated = postgres.for_psycopg if vendor == "postgresql" else _for_sqlite

    def __str__(self) -> str:
        return f"Django's database {self._using!r}"

    def close(self) -> None:
        connections[self._using].close()

    @contextmanager
    def _session(self, *, write: bool) -> Iterator[Any]:
        connection = connections[self._using]
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        if not write:
            yield connection
            return
        with _locking(connection), transaction.atomic(using=self._using, durable=True):
            yield connection

    def _execute(self, connection: Any) -> Execute:
        def execute(statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]:
            with connection.cursor() as cursor:
                cursor.execute(self._translated(statement), dict(parameters) or None)
                return (cursor.fetchall() if cursor.description else []), cursor.rowcount

        return execute

    def _one_at_a_time(self, connection: Any) -> None:
        if self.schema == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [postgres.SCHEMA_LOCK])

    def _explain(self, error: Exception) -> str | None:
        if not isinstance(error, Error):
            return None
        line = postgres.advice(error.__cause__) or sqlite.advice(error.__cause__)
        return None if line is None else f"{self}: {line}"


@contextmanager
def _locking(connection: Any) -> Iterator[None]:
    """SQLite: a transaction that begins meanwhile takes the one lock at once, not with its first write."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    before, connection.transaction_mode = connection.transaction_mode, "IMMEDIATE"
    try:
        yield
    finally:
        connection.transaction_mode = before


@cache
def _for_sqlite(statement: str) -> str:
    return postgres.named(statement.replace("siding_now_ms()", _SQLITE_NOW))
