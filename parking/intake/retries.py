"""Keeps what waits on retry topics: one row per event, the newest record counts, until it is parked or long overdue."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

import structlog
from django.db import connection

from parking.intake.rows import Ident, Parked, Row, Waiting
from parking.models import PendingRetry

log = structlog.get_logger("intake")

AFTER_DUE = timedelta(hours=1)
WITHOUT_DUE = timedelta(days=1)
"""How long after it was due, or came where that is not told, an event is still shown as waiting."""

# Whichever of the two records is read first: a failure that is not older than the retry record ends the waiting.
SQL_PARKED = """
DELETE FROM parking_pendingretry p
USING unnest(%s::bigint[], %s::bytea[]) AS touched (flow_id, event_digest)
JOIN parking_eventstate e ON e.flow_id = touched.flow_id AND e.event_digest = touched.event_digest
WHERE p.flow_id = touched.flow_id AND p.event_digest = touched.event_digest
    AND EXISTS (SELECT FROM parking_attempt a WHERE a.event_state_id = e.id AND a.at >= p.arrived_at)
"""


def note(rows: Sequence[Row], now: datetime) -> None:
    """What these rows say of events that wait, in the caller's transaction; nothing is asked where none can wait."""
    waiting = {row.event: row for row in sorted(_waiting(rows), key=lambda row: row.arrived_at)}
    parked = {row.event for row in rows if isinstance(row, Parked) and row.flow.retry_topics}
    if not waiting and not parked:
        return
    _keep(waiting, now)
    touched = sorted(waiting.keys() | parked)
    _execute(SQL_PARKED, [[ident.flow for ident in touched], [ident.digest for ident in touched]])
    PendingRetry.objects.filter(flow_id__in={ident.flow for ident in touched}, until__lte=now).delete()


def until(*, arrived_at: datetime, due_at: datetime | None) -> datetime:
    """When it is believed that the try succeeded, if nothing was heard until then."""
    return arrived_at + WITHOUT_DUE if due_at is None else max(arrived_at, due_at) + AFTER_DUE


def _waiting(rows: Sequence[Row]) -> list[Waiting]:
    """Without what is foreign: that is nobody's here to see."""
    found = [row for row in rows if isinstance(row, Waiting)]
    for topic in {row.topic for row in found if row.foreign}:
        _tell(topic)
    return [row for row in found if not row.foreign]


@lru_cache(maxsize=1024)
def _tell(topic: str) -> None:
    """Once per topic in the life of a process."""
    log.info("events of a consumer group that is no flow's wait on a retry topic: they are not listed", topic=topic)


def _keep(waiting: dict[Ident, Waiting], now: datetime) -> None:
    known = PendingRetry.objects.filter(
        flow_id__in={ident.flow for ident in waiting}, event_digest__in=[ident.digest for ident in waiting]
    )
    newest = {Ident(row.flow_id, bytes(row.event_digest)): row.arrived_at for row in known}
    fresh = [_row(row) for ident, row in waiting.items() if row.arrived_at >= newest.get(ident, row.arrived_at)]
    PendingRetry.objects.bulk_create(
        [row for row in fresh if row.until > now],
        update_conflicts=True,
        unique_fields=["flow", "event_digest"],
        update_fields=[
            "topic", "partition", "offset", "arrived_at", "due_at", "until", "attempts", "error_type", "error_message",
        ],
    )  # fmt: skip


def _row(row: Waiting) -> PendingRetry:
    return PendingRetry(
        flow_id=row.flow.id,
        event_digest=row.event.digest,
        event_id=row.event_id,
        dialect=row.dialect,
        topic=row.topic,
        partition=row.place.partition,
        offset=row.place.offset,
        arrived_at=row.arrived_at,
        due_at=row.due_at,
        until=until(arrived_at=row.arrived_at, due_at=row.due_at),
        attempts=row.attempts,
        error_type=row.error_type,
        error_message=row.error_message,
    )


def _execute(sql: str, parameters: list[list[object]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
