"""The next batch is fetched and read while the database stores this one, so that Python and PostgreSQL work together.

It is one batch, in memory alone: whatever changes what is to be read drops it, and it comes anew from the stored
position.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from parking.intake.read import Arrived
from parking.intake.rows import Row
from parking.kafka_in import Place


class Stale(Exception):
    """Something was fetched of what is not read any more: nothing of that batch may be stored."""


@dataclass(slots=True)
class Batch:
    """What was fetched in one poll, and the rows that it becomes.

    `ids` are those of its topics, asked after the records came; `lost` and `reached` are the reader's (see there), as
    of the last record of this batch and no later.
    """

    read: list[tuple[Arrived, Row]]
    ids: dict[str, str]
    lost: set[Place]
    reached: dict[Place, int]


class Ahead:
    """Runs `fetch`, with the seconds that it may wait for a record, in a thread of its own; at most one at a time."""

    def __init__(self, fetch: Callable[[float], Batch]) -> None:
        self._fetch = fetch
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")
        self._coming: Future[Batch] | None = None

    def take(self, timeout: float) -> Batch:
        """The batch that is ahead, else the next one. Raises what `fetch` raises."""
        coming, self._coming = self._coming or self._thread.submit(self._fetch, timeout), None
        return coming.result()

    def begin(self) -> None:
        """Start on the next batch, which is there already or is not waited for."""
        self._coming = self._thread.submit(self._fetch, 0.0)

    def drop(self) -> None:
        """Nothing is fetched any more when this returns, and what was is forgotten."""
        if self._coming is not None:
            if not self._coming.cancel():
                wait([self._coming])
            self._coming = None

    def close(self) -> None:
        self.drop()
        self._thread.shutdown()
