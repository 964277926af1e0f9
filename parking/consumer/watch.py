"""What others may hear of the work while it goes on: counters, the ladder, whoever answers duplicates."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parking.consumer.aside import Aside
from parking.consumer.event import Event
from parking.consumer.ledger.rows import APPLIED, Fate
from parking.consumer.step import Done
from parking.record import Record


class Watcher:
    """Hears of each record, on the thread that works on it. All of it may happen again after a crash.

    What a watcher raises is logged, and changes nothing for the event, the other watchers and the consumer. It should
    be quick: the next event of the key waits for it.
    """

    def limited(self, event: Event) -> None:
        """A try was told to wait (429)."""

    def settled(self, event: Event, *, parked: bool) -> None:
        """The event is decided in the ledger: it took effect, or (`parked`) failed for good.

        No handler was asked about a record that cannot be read, or that wears the id of another event.
        """

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
        self._answer(event, json.loads(fate.result) if fate.result else None)


class Watchers:
    """Those of one consumer. Safe for threads, as far as they are."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)
        self._aside = Aside()

    def __bool__(self) -> bool:
        return bool(self._watchers)

    def decided(self, record: Record, event: Event | None, done: Done) -> None:
        """The record is decided, and what is due of it published. `event` is what a handler was given of it."""
        event = done.event or event
        if done.known is not None:
            self._tell(Watcher.known, record, done.known)
        elif event is not None and (done.applied or done.parked):
            self._tell(Watcher.settled, event, parked=done.parked)

    def limited(self, event: Event) -> None:
        """A try was told to wait."""
        self._tell(Watcher.limited, event)

    def _tell(self, heard: Callable[..., None], *what: Any, **more: Any) -> None:
        for watcher in self._watchers:
            name = heard.__name__
            self._aside(f"watcher {type(watcher).__name__}.{name}", getattr(watcher, name), *what, **more)
