"""Announcing anew what a key holds: for records of the parking topic that were lost before the console read them."""

import json
from collections.abc import Collection
from typing import Any

from parking import attempt, wire
from parking.attempt import Attempt
from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Fate, Hold
from parking.hold_key import keys
from parking.wire import Announcement, Outcome, Wire, names

EVERY = 1_000_000


def announce_again(flow: Flow, ledger: Ledger, hold_key: bytes, event_ids: Collection[str] | str = ()) -> int:
    """Put into the outbox what the key holds (of it only that event id or those, if any is given); how many events.

    They go out as pointers, which the running consumer publishes within seconds: the ledger does not keep bytes, the
    console reads them from the source topic. What it knows already it takes for told twice. Raises Unavailable.
    """
    wanted = {event_ids} if isinstance(event_ids, str) else set(event_ids)
    with ledger.transaction(flow.name) as transaction:
        hold = transaction.lock(hold_key)
        held = [fate for fate in transaction.held(hold_key, EVERY) if not wanted or fate.event_id in wanted]
        for fate in held:
            transaction.announce(hold_key, _pointer(flow, hold, fate))
            if fate.token:
                transaction.announce(hold_key, _failure(flow, hold, fate))
    return len(held)


def _pointer(flow: Flow, hold: Hold, fate: Fate) -> Wire:
    """The event as it was parked; what was tried of it in a replay since then is told apart."""
    live = fate.token == 0
    parked = Announcement(
        kind=fate.kind or names.HELD,
        flow=flow.name,
        event_id=fate.event_id,
        position=fate.position or 0,
        fingerprint=fate.source_fingerprint,
        source=fate.source,
        key=_key(flow, fate),
        value=None,
        consumer_group=flow.consumer_group,
        attempts=_attempts(fate) if live else (),
        blocked_by=hold.blocked_by if fate.kind == names.HELD else None,
        evidence=_evidence(fate) if live else None,
    )
    return wire.announcement.as_pointer(wire.announcement.encode(parked))


def _failure(flow: Flow, hold: Hold, fate: Fate) -> Wire:
    """What the event failed of last, under the token of its replay."""
    failed = Outcome(
        outcome=names.FAILED,
        flow=flow.name,
        hold_key=fate.hold_key,
        event_id=fate.event_id,
        position=fate.position,
        token=fate.token,
        source=fate.source,
        consumer_group=flow.consumer_group,
        attempts=_attempts(fate),
        floor=hold.floor,
        evidence=_evidence(fate),
    )
    return wire.outcome.encode(failed)


def _attempts(fate: Fate) -> tuple[Attempt, ...]:
    return attempt.from_json(fate.attempts) if fate.attempts else ()


def _evidence(fate: Fate) -> dict[str, Any] | None:
    return json.loads(fate.evidence) if fate.evidence else None


def _key(flow: Flow, fate: Fate) -> bytes | None:
    """A record key that the key rule makes this hold key of; the original one is in the source topic."""
    for key in keys(fate.hold_key, rule=flow.key_rule):
        if flow.hold_key(key, fate.event_id) == fate.hold_key:
            return key
    raise Unavailable(f"ledger: no key is known that key rule {flow.key_rule} makes {fate.hold_key!r} of")
