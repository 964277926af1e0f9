"""The states of parked events and quarantines, and the only moves between them (DESIGN section 3)."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model, QuerySet

Moves = Mapping[str, frozenset[str]]

EVENT: Moves = {
    "parked": frozenset(("applied", "skipped")),
    "applied": frozenset(("parked",)),  # only by an answer newer than the fact: the ledger was restored
    "skipped": frozenset(("parked",)),
}

QUARANTINE: Moves = {
    "open": frozenset(("replaying", "released")),
    "replaying": frozenset(("open", "released")),
    "released": frozenset(),
}

INCIDENT: Moves = {
    "firing": frozenset(("acknowledged", "resolved")),
    "acknowledged": frozenset(("resolved",)),
    "resolved": frozenset(),
}

DELIVERY: Moves = {
    "pending": frozenset(("sending",)),
    "sending": frozenset(("sending", "delivered", "pending", "failed")),  # itself: its lease ran out
    "delivered": frozenset(("pending",)),  # a person sends it again
    "failed": frozenset(("pending",)),
}


def allowed(moves: Moves, before: str, after: str) -> bool:
    return after in moves[before]


def move(rows: QuerySet[Any, Any], moves: Moves, *, before: str, after: str, **changes: Any) -> bool:
    """Compare-and-swap: moves the one row of `rows` that is still in `before`; False if there is none.

    Raises ValueError for a move that is not in the table.
    """
    if not allowed(moves, before, after):
        model: type[Model] = rows.model
        raise ValueError(f"{model.__name__}: no move from {before} to {after}")
    return rows.filter(state=before).update(state=after, **changes) == 1
