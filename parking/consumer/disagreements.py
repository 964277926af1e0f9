"""Where a handler in the shadow decided otherwise than the one that acted: kept in the ledger's database, by key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parking.consumer.event import Event
from parking.consumer.ledger.ledger import Ledger
from parking.wire.block import compact

_WRITE = (
    "INSERT INTO siding_disagreement (flow, event_id, hold_key, acted, shadow, at) "
    "VALUES (:flow, :event_id, :hold_key, :acted, :shadow, siding_now_ms())"
)
_NEWEST = (
    "SELECT event_id, hold_key, acted, shadow, at FROM siding_disagreement WHERE flow = :flow "
    "ORDER BY sequence DESC LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One event, what was done about it, and what the shadow would have done. `at` is milliseconds since 1970."""

    event_id: str
    hold_key: bytes
    acted: Mapping[str, Any] | None
    shadow: Mapping[str, Any] | None
    at: int


class Disagreements:
    """Those of one flow. Everything raises Unavailable."""

    def __init__(self, flow: str, ledger: Ledger) -> None:
        self._flow = flow
        self._ledger = ledger

    def report(self, event: Event, acted: Mapping[str, Any] | None, shadow: Mapping[str, Any] | None) -> None:
        """Keep one."""
        values = {"flow": self._flow, "event_id": event.event_id.encode(), "hold_key": event.hold_key}
        with self._ledger.transaction(self._flow) as transaction:
            transaction.execute(_WRITE, {**values, "acted": compact(acted), "shadow": compact(shadow)})

    def newest(self, most: int = 1_000) -> list[Disagreement]:
        """The newest first."""
        with self._ledger.transaction(self._flow, write=False) as transaction:
            rows, _ = transaction.execute(_NEWEST, {"flow": self._flow, "most": most})
        return [
            Disagreement(bytes(event_id).decode(), bytes(hold_key), _result(acted), _result(shadow), at)
            for event_id, hold_key, acted, shadow, at in rows
        ]

    def by_key(self, most: int = 1_000) -> dict[bytes, list[Disagreement]]:
        """The newest ones, by hold key; the keys with most of them first."""
        found: dict[bytes, list[Disagreement]] = {}
        for one in self.newest(most):
            found.setdefault(one.hold_key, []).append(one)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _result(stored: Any) -> Mapping[str, Any] | None:
    return None if stored is None else json.loads(bytes(stored))
