"""Announcing anew what a key holds: for records of the parking topic that were lost before the console read them."""

from collections.abc import Collection

from parking import attempt, wire
from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Fate, Hold
from parking.wire import Announcement, Wire, names

EVERY = 1_000_000


def announce_again(flow: Flow, ledger: Ledger, hold_key: bytes, event_ids: Collection[str] = ()) -> int:
    """Put into the outbox what the key holds (of it only those event ids, if any are given); how many events.

    They go out as pointers, which the running consumer publishes within seconds: the ledger does not keep bytes, the
    console reads them from the source topic. What it knows already it takes for told twice. Raises Unavailable.
    """
    with ledger.transaction(flow.name) as transaction:
        hold = transaction.lock(hold_key)
        held = [fate for fate in transaction.held(hold_key, EVERY) if not event_ids or fate.event_id in event_ids]
        for fate in held:
            transaction.announce(hold_key, _pointer(flow, hold, fate))
    return len(held)


def _pointer(flow: Flow, hold: Hold, fate: Fate) -> Wire:
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
        attempts=attempt.from_json(fate.attempts) if fate.attempts else (),
        blocked_by=hold.blocked_by if fate.kind == names.HELD else None,
    )
    return wire.announcement.as_pointer(wire.announcement.encode(parked))


def _key(flow: Flow, fate: Fate) -> bytes | None:
    """A record key that the key rule makes this hold key of; the original one is in the source topic."""
    for key in (fate.hold_key, None):
        if flow.hold_key(key, fate.event_id) == fate.hold_key:
            return key
    raise Unavailable(f"ledger: no key is known that key rule {flow.key_rule} makes {fate.hold_key!r} of")
