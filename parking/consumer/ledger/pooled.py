"""A ledger that opens connections of its own and uses them again."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parking.consumer.ledger.ledger import Ledger


class PooledLedger(Ledger):
    """As many connections as there are transactions at a time: one serves one transaction after the other."""

    def __init__(self) -> None:
        self._idle: list[Any] = []

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _session(self, *, write: bool) -> Iterator[Any]:
        connection = self._free()
        try:
            self._begin(connection, write=write)
            yield connection
            self._commit(connection)
        except BaseException:
            connection.close()  # what an error left behind is not used again; closing rolls back
            raise
        self._idle.append(connection)

    def _free(self) -> Any:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any, *, write: bool) -> None: ...

    @abstractmethod
    def _commit(self, connection: Any) -> None: ...
