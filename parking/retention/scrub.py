"""Scrubs what may hold values of payloads from settled events that are due. Metadata, ids and digests stay.

It takes the payload row, the words of the search, error messages, stack traces, validation errors and evidence of
attempts and outcomes, amended copies, and the samples of messages that quarantines and error groups show.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.models import Flow
from parking.retention import due
from parking.search import entries, position

CHUNK = 1000

SQL_LOCK_QUARANTINES = "SELECT id FROM parking_quarantine WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
SQL_LOCK_EVENTS = """
SELECT id, stored_at, event_digest, settled_at FROM parking_eventstate
WHERE id = ANY(%s) AND state <> 'parked' AND scrubbed_at IS NULL ORDER BY id FOR NO KEY UPDATE
"""
SQL_LOCK_GROUPS = "SELECT id FROM parking_errorgroup WHERE flow_id = %s AND sample <> '' ORDER BY id FOR NO KEY UPDATE"
GIVEN = "unnest(%s::bigint[], %s::timestamptz[]) AS given (id, stored_at)"
SQL_PAYLOADS = f"""
DELETE FROM parking_eventpayload p USING {GIVEN} WHERE p.id = given.id AND p.stored_at = given.stored_at
"""  # noqa: S608 - ours
SQL_EVENTS = f"""
UPDATE parking_parkedevent p SET error_message = '', unreadable_reason = '' FROM {GIVEN}
WHERE p.id = given.id AND p.stored_at = given.stored_at AND (p.error_message <> '' OR p.unreadable_reason <> '')
"""  # noqa: S608 - ours
SQL_ATTEMPTS = """
UPDATE parking_attempt SET message = '', stacktrace = '', validation_errors = '[]', evidence = NULL
WHERE event_state_id = ANY(%s)
"""
SQL_AMENDMENTS = "UPDATE parking_amendment SET value = NULL, headers = '' WHERE event_state_id = ANY(%s)"
SQL_OUTCOMES = """
UPDATE parking_outcome SET attempts = '[]', evidence = NULL
WHERE flow_id = %s AND event_digest = ANY(%s) AND (attempts <> '[]' OR evidence IS NOT NULL)
"""
SQL_STATES = "UPDATE parking_eventstate SET scrubbed_at = %s WHERE id = ANY(%s)"
SQL_QUARANTINES = "UPDATE parking_quarantine SET first_error = split_part(first_error, ': ', 1) WHERE id = ANY(%s)"
# All of the flow: an event that failed differently later has left its message in the group that it was in before.
SQL_GROUPS = """
UPDATE parking_errorgroup g SET sample = coalesce((
    SELECT left(a.message, 2000) FROM parking_eventstate e JOIN parking_attempt a ON a.event_state_id = e.id
    WHERE e.error_group_id = g.id AND e.scrubbed_at IS NULL
    ORDER BY e.id DESC, a.error_type = g.error_type DESC, a.id DESC LIMIT 1
), '')
WHERE g.flow_id = %s AND g.sample <> ''
"""


def scrub(*, flow: Flow, actor: Actor, reason: str = "", most: int = CHUNK) -> int:
    """Scrub at most `most` events of the flow that are due, in one transaction with its journal entry; how many.

    Locks in the order of everyone: the index, quarantines, events, error groups, the journal.
    """
    now = timezone.now()
    chosen = list(due.to_scrub(flow, now).values_list("pk", "quarantine_id")[:most])
    if not chosen:
        return 0
    with transaction.atomic():
        position.locked()
        quarantines = sorted({quarantine for _, quarantine in chosen if quarantine is not None})
        _execute(SQL_LOCK_QUARANTINES, quarantines)
        events = _execute(SQL_LOCK_EVENTS, [event for event, _ in chosen])
        if events:
            _scrub(flow, events, quarantines, now)
            journal.write(actor=actor, verb="scrub", flow=flow, reason=reason or _rule(flow), detail=_counts(events))
    return len(events)


def _scrub(flow: Flow, events: Sequence[Any], quarantines: list[int], now: datetime) -> None:
    ids, stored = [event[0] for event in events], [event[1] for event in events]
    _execute(SQL_PAYLOADS, ids, stored)
    _execute(SQL_EVENTS, ids, stored)
    _execute(SQL_ATTEMPTS, ids)
    _execute(SQL_AMENDMENTS, ids)
    _execute(SQL_OUTCOMES, flow.pk, [bytes(event[2]) for event in events])
    entries.scrub(ids, stored)
    _execute(SQL_STATES, now, ids)
    _execute(SQL_QUARANTINES, quarantines)
    _execute(SQL_LOCK_GROUPS, flow.pk)
    _execute(SQL_GROUPS, flow.pk)


def _rule(flow: Flow) -> str:
    return f"Payloads of {flow.name} are kept for {flow.payload_days} days after settling."


def _counts(events: Sequence[Any]) -> dict[str, Any]:
    settled = [event[3] for event in events]
    return {
        "events": len(events),
        "first_event": events[0][0],
        "last_event": events[-1][0],
        "settled_from": min(settled).isoformat(),
        "settled_to": max(settled).isoformat(),
    }


def _execute(sql: str, *parameters: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []
