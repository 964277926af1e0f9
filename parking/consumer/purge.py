"""Forgetting what no record can bring back: fates of settled events, and keys that are long open (DESIGN section 4).

A fate goes when nothing that source and replay topic still have, and nothing that the group has read and not finished,
could be read before it was decided (`edge` says how that is known); its key must not be quarantined, and no event must
be left that was renamed because this one wears its id.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from parking.consumer import edge
from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import Transaction

WINDOW = 1000
DAY_MS = 86_400_000
SKEW_MS = 3_600_000
"""How far the clocks of a service's hosts may differ."""


def purge(
    flow: Flow,
    ledger: Ledger,
    kafka: Mapping[str, Any],
    *,
    keep_days: float = 30.0,
    rest: Callable[[], None] = lambda: None,
) -> int:
    """Forget what is older than `keep_days` and than every record that can still be delivered; how many fates went.

    Call it again and again: it notes where the topics end, and forgets what was decided before once all of that is
    gone. `kafka` are librdkafka client settings; `rest` is called after each of many short transactions. Raises
    Unavailable, and forgets nothing, where the topics or the ledger cannot be asked.
    """
    now = int(time.time() * 1000)
    since = note(flow.name, ledger, edge.places(kafka, flow), now_ms=now)
    before = min(now - int(keep_days * DAY_MS), since - SKEW_MS)
    return forget(flow.name, ledger, before=before, rest=rest) if since else 0


def note(flow: str, ledger: Ledger, places: Mapping[str, edge.Place], *, now_ms: int) -> int:
    """Note that the flow's partitions are so; before what time (milliseconds since 1970) all was decided of which no
    record can come any more, 0 where that is not known yet. `now_ms` is a time before the partitions were asked."""
    with ledger.transaction(flow) as transaction:
        before = transaction.note()
        after = edge.look(before, now_ms, places)
        if after != before:
            transaction.save_note(after)
    return after.edge


def forget(flow: str, ledger: Ledger, *, before: int, rest: Callable[[], None] = lambda: None) -> int:
    """Forget what was decided before that time (milliseconds since 1970); how many fates went. Raises Unavailable.

    Many short transactions: whoever needs the tables meanwhile waits for none of them long.
    """
    count = 0

    def fates(transaction: Transaction, after: bytes) -> bytes | None:
        nonlocal count
        gone, last = transaction.purge_fates(before=before, after=after, most=WINDOW)
        count += gone
        return last

    def holds(transaction: Transaction, after: bytes) -> bytes | None:
        return transaction.purge_holds(before=before, after=after, most=WINDOW)

    for purges in (fates, holds):
        _walk(flow, ledger, purges, rest)
    with ledger.transaction(flow) as transaction:
        transaction.purge_notes(before=before)
    return count


def _walk(
    flow: str, ledger: Ledger, purges: Callable[[Transaction, bytes], bytes | None], rest: Callable[[], None]
) -> None:
    """Window after window, each in a transaction of its own, with a rest behind it."""
    after: bytes | None = b""
    while after is not None:
        with ledger.transaction(flow) as transaction:
            after = purges(transaction, after)
        if after is not None:
            rest()
