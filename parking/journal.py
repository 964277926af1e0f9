"""Who did what, when and why. Each entry holds the digest of the one before it, so that none can be changed unseen."""

import hashlib
import json
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from parking import storable
from parking.actor import Actor
from parking.models.flow import Flow
from parking.models.journal import JournalEntry

BEGINNING = bytes(32)
LOCK = 0x51D1_106E


def write(
    *,
    actor: Actor,
    verb: str,
    flow: Flow | None = None,
    quarantine_id: int | None = None,
    event_id: int | None = None,
    replay_id: int | None = None,
    reason: str = "",
    detail: dict[str, Any] | None = None,
) -> JournalEntry:
    """Append one entry inside the caller's transaction, as its last step: until the commit nobody else can append.

    `event_id` is the id of an EventState. `detail` is a JSON object without fractions and never holds a payload.
    Raises TransactionManagementError outside a transaction.
    """
    _lock()
    last = JournalEntry.objects.order_by("-id").values_list("digest", flat=True).first()
    entry = JournalEntry(
        at=timezone.now(),
        actor_id=actor.id,
        actor_name=storable.text(actor.name, 149),
        verb=verb,
        flow=flow,
        quarantine_id=quarantine_id,
        event_id=event_id,
        replay_id=replay_id,
        reason=storable.text(reason),
        detail=storable.json(detail or {}),
        previous=BEGINNING if last is None else bytes(last),
    )
    entry.digest = digest(entry)
    entry.save(force_insert=True)
    return entry


def digest(entry: JournalEntry) -> bytes:
    """SHA-256 over the previous digest and everything else in the row but its id."""
    row = [
        entry.at.isoformat(), entry.actor_id, entry.actor_name, entry.verb, entry.flow_id, entry.quarantine_id,
        entry.event_id, entry.replay_id, entry.reason, entry.detail,
    ]  # fmt: skip
    canonical = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(bytes(entry.previous) + canonical.encode()).digest()


def first_broken() -> int | None:
    """The id of the first entry that does not follow from the ones before it; None while the chain is whole."""
    previous = BEGINNING
    for entry in JournalEntry.objects.order_by("id").iterator():
        if bytes(entry.previous) != previous or bytes(entry.digest) != digest(entry):
            return entry.pk
        previous = bytes(entry.digest)
    return None


def _lock() -> None:
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("the journal is written in the transaction of what it tells of")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
