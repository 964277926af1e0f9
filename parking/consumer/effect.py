"""What a handler returns: the write that makes its decision take effect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Write = Callable[[Any], object]
"""Writes to the service's own tables on the connection that it is given, inside the ledger's transaction."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A decided event: `write` is run in one transaction with the event's fate, or not at all.

    `write` gets the ledger's connection (psycopg or sqlite3), must not commit, and should be short: it may hold the
    key's lock. It may be run again after a rollback. `evidence` (JSON) is kept with the fate and sent with the outcome.
    `result` (a JSON object) is kept with the fate and given to duplicates of the event, without asking the handler
    again.
    """

    write: Write | None = None
    evidence: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None


def effect(returned: "Effect | Write | None") -> Effect:
    """What a handler returned, as an Effect. Raises TypeError for anything else."""
    if isinstance(returned, Effect):
        return returned
    if returned is None or callable(returned):
        return Effect(returned)
    raise TypeError(f"the handler returned {type(returned).__name__}: expected an Effect, a function or None")
