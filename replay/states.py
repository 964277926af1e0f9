"""The one table of moves for replay and step (DESIGN section 3): whatever it does not name cannot happen.

The database holds the same table (a trigger on each model, written from here), so no other road exists either.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models

Moves = Mapping[str, frozenset[str]]

REPLAY: Moves = {
    "draft": frozenset(("requested", "cancelled")),
    "requested": frozenset(("approved", "rejected", "expired", "cancelled")),
    "approved": frozenset(("running", "expired", "cancelled")),
    "running": frozenset(("paused", "releasing", "cancelling", "stopped")),
    "paused": frozenset(("running", "cancelling")),
    "releasing": frozenset(("running", "completed", "cancelling", "stopped")),
    "cancelling": frozenset(("cancelled",)),
    "completed": frozenset(),
    "rejected": frozenset(),
    "expired": frozenset(),
    "cancelled": frozenset(),
    "stopped": frozenset(),
}
TERMINAL = tuple(state for state, targets in REPLAY.items() if not targets)
LIVING = tuple(state for state, targets in REPLAY.items() if targets)
# From approval to the end: workers drive it, and its events take no new decision.
FROZEN = ("approved", "running", "paused", "releasing", "cancelling")
# What must never lie about without a worker; `paused` waits for a person.
DRIVEN = ("approved", "running", "releasing", "cancelling")
UNAPPROVED = ("draft", "requested", "rejected", "expired", "cancelled")

_OUTCOMES = frozenset(("applied", "duplicate", "skipped", "held", "conflict", "failed", "fenced"))
STEP: Moves = {
    "pending": frozenset(("in_flight",)),
    "in_flight": _OUTCOMES | {"unconfirmed"},
    "unconfirmed": _OUTCOMES,
    **{state: frozenset() for state in sorted(_OUTCOMES)},
}
SENT = ("in_flight", "unconfirmed")
STOPPING = ("conflict", "failed", "unconfirmed", "fenced")
DONE = ("applied", "duplicate", "skipped", "held")


class ImpossibleMove(Exception):
    """What should have been moved is not in a state from which the table of moves leads there."""

    def __init__(self, what: str, to: str, expected: list[str]) -> None:
        self.to = to
        super().__init__(f"{what}: only {' or '.join(expected) or 'nothing'} can become {to}")


def sources(moves: Moves, to: str) -> list[str]:
    """The states from which one move leads to `to`."""
    return [state for state, targets in moves.items() if to in targets]


def transitions(moves: Moves) -> list[tuple[str, str]]:
    """Every move as (from, to), for the database's own copy of the table."""
    return [(state, target) for state, targets in moves.items() for target in sorted(targets)]


def move(rows: "models.QuerySet[Any]", to: str, *, moves: Moves, only: int = 1, **changes: Any) -> int:
    """Move `rows` to `to` by compare-and-swap, setting `changes` in the same UPDATE; how many moved.

    Raises ImpossibleMove, and the caller's transaction with it, unless exactly `only` rows could move.
    """
    expected = sources(moves, to)
    moved = rows.filter(state__in=expected).update(state=to, **changes)
    if moved != only:
        raise ImpossibleMove(rows.model._meta.verbose_name or "row", to, expected)
    return moved
