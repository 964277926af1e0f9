"""How far the index is, and how far it may go.

Ids become visible out of order: a transaction that took a lower id may commit after one that took a higher one, and
ids that were taken may never be stored. So the index only goes up to ids that are *final*: everything up to there is
visible or never will be. `nextval` makes its transaction hold a lock on the sequence until it ends, and the lock goes
after the rows have become visible (PostgreSQL, `lock_and_open_sequence`). Therefore: read how far the sequence is, note
who holds its lock, wait until each of them has ended, as CREATE INDEX CONCURRENTLY waits for writers. Nobody is kept
from writing meanwhile. It needs sequences without a cache, which is PostgreSQL's default.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Subquery
from django.db.models.functions import Coalesce

from parking.models import EventState, IndexPosition
from parking.models.event import EventStateQuerySet

LOOK_AGAIN_SECONDS = 0.02
MOST_COUNTED = 100_000

SQL_TAKEN = """
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('parking_eventstate', 'id')::regclass), 0),
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('parking_attempt', 'id')::regclass), 0)
"""
SQL_WRITERS = """
SELECT virtualtransaction, pid FROM pg_locks
WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relation IN (pg_get_serial_sequence('parking_eventstate', 'id')::regclass,
                   pg_get_serial_sequence('parking_attempt', 'id')::regclass)
"""


class Ids(NamedTuple):
    """One id of each table that the index follows."""

    event: int
    attempt: int


class Writing(Exception):
    """Somebody took ids and has not ended: what follows them cannot be indexed yet. `pids` are of the database."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        listed = ", ".join(map(str, pids))
        super().__init__(
            f"Transactions that store events have been open for a while (database processes {listed}): the index waits "
            "for them. Look at pg_stat_activity, and end them if nobody needs them."
        )


@dataclass(frozen=True, slots=True)
class Lag:
    """`events` are stored and not indexed yet (not counted beyond 100 000), the first of them `since`."""

    events: int
    since: datetime | None

    @property
    def exact(self) -> bool:
        return self.events < MOST_COUNTED


def final(*, seconds: float = 5.0, sleep: Callable[[float], None] = time.sleep) -> Ids:
    """Ids up to which everything is visible now or never will be. Raises Writing when that takes too long."""
    until = time.monotonic() + seconds
    taken = _taken()
    waiting = _writers()
    while waiting:
        if time.monotonic() > until:
            raise Writing(sorted(pid for _, pid in waiting))
        sleep(LOOK_AGAIN_SECONDS)
        waiting &= _writers()
    return taken


def locked() -> IndexPosition:
    """The position, locked until the caller's transaction ends: the first lock of whoever changes `EventSearch`."""
    IndexPosition.objects.bulk_create([IndexPosition()], ignore_conflicts=True)
    return IndexPosition.objects.select_for_update().get()


def lag(flows: Collection[int] | None = None) -> Lag:
    """How far the index is behind the store; for the status page, in the flows that the viewer may see."""
    waiting = _waiting(flows)
    since = waiting.order_by("pk").values_list("stored_at", flat=True).first()
    return Lag(waiting[:MOST_COUNTED].count(), since)


def behind(flows: Collection[int]) -> int:
    """How many events of these flows are not indexed yet; not counted beyond 100 000."""
    return _waiting(flows)[:MOST_COUNTED].count()


def _waiting(flows: Collection[int] | None) -> EventStateQuerySet:
    indexed = IndexPosition.objects.values("event_id")[:1]
    waiting = EventState.objects.filter(pk__gt=Coalesce(Subquery(indexed), 0))
    return waiting if flows is None else waiting.visible(flows)


def _taken() -> Ids:
    with connection.cursor() as cursor:
        cursor.execute(SQL_TAKEN)
        return Ids(*cursor.fetchone())


def _writers() -> set[tuple[str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(SQL_WRITERS)
        return set(cursor.fetchall())
