"""What others may hear of the work while it goes on: counters, the ladder, whoever answers duplicates."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from parking.consumer.event import Event
from parking.consumer.ledger.rows import APPLIED, Fate
from parking.record import Record

log = logging.getLogger("parking.consumer")


class Watcher:
    """Hears of each record, on the thread that works on it. All of it may happen again after a crash."""

    def limited(self, event: Event) -> None:
        """A try was told to wait (429)."""

    def settled(self, event: Event, *, parked: bool) -> None:
        """A handler's decision about the event is in the ledger: it took effect, or (`parked`) failed for good."""

    def known(self, record: Record, fate: Fate) -> None:
        """A source record came whose event has its fate already."""


class Duplicates(Watcher):
    """Gives the stored result to whoever answers duplicates of an event that took effect. No handler is asked."""

    def __init__(self, answer: Callable[[Event, Mapping[str, Any] | None], None]) -> None:
        self._answer = answer

    def known(self, record: Record, fate: Fate) -> None:
        if fate.state != APPLIED:
            return
        event = Event(fate.event_id, fate.hold_key, record.key, record.value, record.headers, record.coordinates)
        try:
            self._answer(event, json.loads(fate.result) if fate.result else None)
        except Exception:
            log.exception("the answer to a duplicate of %s failed; the event itself took effect", fate.event_id)
