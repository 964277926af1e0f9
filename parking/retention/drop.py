"""Drops whole days: nothing but dropping a partition gives files back.

A day goes when every event in it is settled, of a released key, and due by its flow's `metadata_days`. One that waits
keeps its day, and `KeptDay` says so.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from parking import days, journal
from parking.actor import Actor
from parking.models import DroppedDay, Flow, IndexedDay, KeptDay
from parking.models.search import CommonWords
from parking.search import position

YOUNGEST = timedelta(2)
"""Days that intake may still fill are not looked at."""
WAITING, NOT_DUE, TRY_AGAIN = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)

SQL_LOOK = """
SELECT count(*), count(*) FILTER (WHERE e.state = 'parked' OR q.state IS DISTINCT FROM 'released'),
    max(e.settled_at + make_interval(days => f.metadata_days))
FROM parking_parkedevent p
JOIN parking_eventstate e ON e.id = p.id
JOIN parking_flow f ON f.id = e.flow_id
LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id
WHERE p.stored_at >= %s AND p.stored_at < %s
"""
SQL_BY_FLOW = """
SELECT e.flow_id, count(*), min(e.id), max(e.id) FROM parking_parkedevent p JOIN parking_eventstate e ON e.id = p.id
WHERE p.stored_at >= %s AND p.stored_at < %s GROUP BY e.flow_id ORDER BY e.flow_id
"""
# In the order in which intake comes to them; whoever waits longer than a moment is not held up by us.
SQL_LOCK = """
SET LOCAL lock_timeout = 500;
LOCK TABLE parking_cluster, parking_eventstate, ONLY parking_parkedevent, ONLY parking_eventpayload,
    ONLY parking_eventsearch IN ACCESS EXCLUSIVE MODE
"""
SQL_WAITS = """
SELECT EXISTS (
    SELECT FROM parking_eventstate
    WHERE state = 'parked' AND id BETWEEN %s AND %s AND stored_at >= %s AND stored_at < %s
)
"""


def look(now: datetime) -> KeptDay | None:
    """Looks at the oldest day that was not looked at for a while and notes why it is here; None when all were."""
    known = set(KeptDay.objects.filter(look_again_at__gt=now).values_list("day", flat=True))
    old = (day for day in days.existing() if days.bounds(day)[1] < now - YOUNGEST)
    day = next((day for day in old if day not in known), None)
    if day is None:
        return None
    events, waiting, last_due = _execute(SQL_LOOK, days.bounds(day))[0]
    due_at = None if waiting else last_due or now
    again = now + (WAITING if due_at is None else TRY_AGAIN if due_at <= now else min(NOT_DUE, due_at - now))
    found = {"looked_at": now, "look_again_at": again, "events": events, "waiting": waiting, "due_at": due_at}
    return KeptDay.objects.update_or_create(day=day, defaults=found)[0]


def drop(*, day: date, actor: Actor, reason: str = "") -> bool:
    """Drop a day that `look` found due, in one transaction with its journal entries, one for each flow.

    False where something of it is parked again, or where the tables are so busy that others would have to wait.
    """
    try:
        with transaction.atomic():
            return _drop(day, actor, reason or "Every event of this day is settled and past its flow's retention.")
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise


def _drop(day: date, actor: Actor, reason: str) -> bool:
    position.locked()
    by_flow = _execute(SQL_BY_FLOW, days.bounds(day))
    first, last = min((row[2] for row in by_flow), default=1), max((row[3] for row in by_flow), default=0)
    _execute(SQL_LOCK)
    if _execute(SQL_WAITS, (first, last, *days.bounds(day)))[0][0]:
        return False
    days.drop(day)
    IndexedDay.objects.filter(day=day).delete()
    CommonWords.objects.filter(day=day).delete()
    KeptDay.objects.filter(day=day).delete()
    events = sum(row[1] for row in by_flow)
    facts = {"dropped_at": timezone.now(), "events": events, "first_id": first, "last_id": last, "swept_to": first - 1}
    DroppedDay.objects.update_or_create(day=day, defaults=facts)
    for flow, count, *ids in by_flow:
        detail = {"day": day.isoformat(), "events": count, "first_event": ids[0], "last_event": ids[1]}
        journal.write(actor=actor, verb="drop day", flow=Flow(pk=flow), reason=reason, detail=detail)
    return True


def _execute(sql: str, parameters: Sequence[Any] | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []
