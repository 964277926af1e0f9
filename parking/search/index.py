"""Follows what intake stores and writes its words beside it, in batches, each one transaction with its position.

New events are indexed once they are final (`position`). An attempt that comes later brings words too: its event is
indexed anew. Any number of processes may run; the lock on the position lets one work.
"""

from typing import Any

from django.db import connection, transaction

from parking.models import IndexPosition
from parking.search import entries, position, segments
from parking.search.position import Ids
from parking.search.segments import Stretch

BATCH = 2000
ATTEMPTS_PER_EVENT = 5

# Where there are no statistics yet, to read and sort all that waits would look best, with each batch anew.
SQL_IN_ORDER = "SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"
SQL_AS_EVER = "RESET enable_bitmapscan; RESET enable_sort"
SQL_NEW = """
SELECT (stored_at AT TIME ZONE 'UTC')::date, id / %s::bigint, count(*), min(id), max(id), min(stored_at), max(stored_at)
FROM (SELECT id, stored_at FROM parking_eventstate WHERE id > %s AND id <= %s ORDER BY id LIMIT %s) AS next
GROUP BY 1, 2 ORDER BY 1, 2
"""
SQL_LAST = "SELECT id FROM parking_attempt WHERE id > %s AND id <= %s ORDER BY id LIMIT 1 OFFSET %s"
SQL_TRIED = """
SELECT id, stored_at FROM parking_eventstate WHERE id IN (
    SELECT event_state_id FROM parking_attempt WHERE id > %s AND id <= %s AND event_state_id <= %s
)
"""


def catch_up(*, size: int = BATCH, seconds: float = 5.0) -> int:
    """Index everything that is stored; how many events that were. Raises position.Writing (see there)."""
    to = position.final(seconds=seconds)
    done = 0
    while (indexed := batch(to, size=size)) is not None:
        done += indexed
    while sort():
        pass
    return done


def batch(to: Ids, *, size: int = BATCH) -> int | None:
    """Index at most `size` new events, and those that new attempts belong to; None when there is nothing more.

    `to` comes from `position.final`. Attempts go first: those of events that are not indexed yet come with their event.
    """
    with transaction.atomic():
        at = position.locked()
        _set(SQL_IN_ORDER)
        attempt = _attempts(at.attempt_id, to.attempt, ATTEMPTS_PER_EVENT * size)
        new = [Stretch(*row) for row in _rows(SQL_NEW, segments.SPAN, at.event_id, to.event, size)]
        _set(SQL_AS_EVER)
        tried = _rows(SQL_TRIED, at.attempt_id, attempt, at.event_id)
        count = sum(stretch.events for stretch in new)
        event = max(stretch.last for stretch in new) if count == size else max(at.event_id, to.event)
        entries.write(new=new, again=tried)
        moved = _move(at, Ids(event, attempt))
    return count + len(tried) if moved else None


def sort(*, most: int = 0) -> bool:
    """Builds the indexes of one segment, where more than `most` wait for theirs; False where nothing was to be done."""
    if _waiting(IndexPosition.objects.first()) <= most:
        return False
    with transaction.atomic():
        at = position.locked()
        if _waiting(at) > most:
            IndexPosition.objects.filter(pk=at.pk).update(open_id=segments.sort(at.event_id))
    return True


def _waiting(at: IndexPosition | None) -> int:
    """Full segments without indexes, those of several days with the same ids as one."""
    return (segments.full_up_to(at.event_id) - at.open_id) // segments.SPAN if at else 0


def _attempts(at: int, to: int, most: int) -> int:
    """Where so many attempts behind `at` end. Ids may have wide gaps, and events are not to run ahead of attempts: one
    that comes with its event would be taken for a late one in the next batch.
    """
    last = _rows(SQL_LAST, at, to, most - 1)
    return last[0][0] if last else max(at, to)


def _move(at: IndexPosition, to: Ids) -> bool:
    """False where it is there already."""
    if (at.event_id, at.attempt_id) == to:
        return False
    IndexPosition.objects.filter(pk=at.pk).update(event_id=to.event, attempt_id=to.attempt)
    return True


def _set(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def _rows(sql: str, *parameters: int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
