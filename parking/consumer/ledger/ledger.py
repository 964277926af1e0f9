"""What every ledger can do, whatever database it lives in."""

import importlib.resources
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from parking.consumer.errors import Unavailable
from parking.consumer.ledger.transaction import Execute, Transaction

VERSION = 4
"""The version of the tables that this code needs."""


class Ledger(ABC):
    """The tables of the kit in the service's own database, beside its effects.

    Safe for several threads. What differs between databases is in the classes built on it; `parking.django_ledger` has
    the one on Django's own connection.
    """

    schema: str
    has_tables: str
    for_update: str

    @contextmanager
    def transaction(self, flow: str, *, write: bool = True) -> Iterator[Transaction]:
        """One transaction of that flow: committed at the end, rolled back on any exception.

        Without `write` each statement stands alone: for what is read as a hint.
        Raises Unavailable where the database cannot be used now; whatever else the block raises passes through.
        """
        try:
            with self._session(write=write) as connection:
                yield self.on(flow, connection)
        except Exception as error:
            line = self._explain(error)
            if line is None:
                raise
            raise Unavailable(f"ledger: {line}") from error

    def on(self, flow: str, connection: Any) -> Transaction:
        """The kit's statements on a connection whose transaction somebody else begins and ends."""
        return Transaction(flow, connection, self._execute(connection), for_update=self.for_update)

    def prepare(self) -> None:
        """Create the tables, or bring them to this version. Safe at each start and in several processes at once."""
        with self.transaction("") as transaction:
            self._one_at_a_time(transaction.connection)
            for version in range(self._version(transaction) + 1, VERSION + 1):
                for statement in statements_of(self.schema, version):
                    transaction.execute(statement, {})

    def check(self) -> None:
        """Raise Unavailable, with what to do, unless the tables are there in this version."""
        with self.transaction("") as transaction:
            version = self._version(transaction)
        if version != VERSION:
            raise Unavailable(
                f"ledger: the tables siding_* are {f'of version {version}' if version else 'missing'}, "
                f"version {VERSION} is needed: call ledger.prepare(), or run what "
                f"`python -m parking.consumer.ledger {self.schema} --from {version}` prints with your migrations"
            )

    def _version(self, transaction: Transaction) -> int:
        rows, _ = transaction.execute(self.has_tables, {})
        return transaction.version() if rows[0][0] else 0

    @abstractmethod
    def close(self) -> None:
        """Close what is open. The ledger can still be used afterwards."""

    @abstractmethod
    def _session(self, *, write: bool) -> AbstractContextManager[Any]:
        """A connection for one transaction, which ends with the block."""

    @abstractmethod
    def _execute(self, connection: Any) -> Execute: ...

    @abstractmethod
    def _one_at_a_time(self, connection: Any) -> None:
        """Keep other processes from changing the tables until the end of the transaction."""

    @abstractmethod
    def _explain(self, error: Exception) -> str | None:
        """One line that says what to do, where the error means that the database cannot be used now."""


def schema(folder: str, version: int) -> str:
    """The SQL that brings the tables from the version before to `version`; `folder` is postgresql or sqlite."""
    files = importlib.resources.files("parking.consumer.ledger")
    return (files / "schema" / folder / f"{version:04}.sql").read_text(encoding="utf-8")


def statements_of(folder: str, version: int) -> list[str]:
    """The statements of that file, one by one, without comments."""
    lines = (line.partition("--")[0].rstrip() for line in schema(folder, version).splitlines())
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]
