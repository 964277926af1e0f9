"""How many of the model's last decisions were parked, and whose events they were."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from parking.consumer.modes import FLOW, SHADOW


@dataclass(frozen=True, slots=True)
class ParkedShare:
    """Go down to `to` when more than `most` of the last `of_last` events that the model decided were parked.

    Down goes the scope without whose events the share would not be too high, if there is one, else the flow.
    """

    most: float = 0.2
    of_last: int = 50
    to: str = SHADOW


class Window:
    """The last decisions of the model: their events' scopes, and whether they were parked."""

    def __init__(self, share: ParkedShare) -> None:
        self._share = share
        self._last: deque[tuple[frozenset[str], bool]] = deque(maxlen=share.of_last)

    def add(self, scopes: Iterable[str], *, parked: bool) -> tuple[str, str] | None:
        """One more. The scope that is to go down, and why, where too many were parked."""
        self._last.append((frozenset(scopes), parked))
        parked_now = sum(parked for _, parked in self._last)
        if len(self._last) < self._share.of_last or not self._too_many(parked_now, len(self._last)):
            return None
        why = f"{parked_now} of the last {self._share.of_last} events were parked"
        scope, theirs = self._to_blame()
        return (scope, why if scope == FLOW else f"{why}, {theirs} of them of {scope}")

    def forget(self, scope: str) -> None:
        """The scope is down: what was decided before says nothing about what the model decides now."""
        kept = [] if scope == FLOW else [one for one in self._last if scope not in one[0]]
        self._last = deque(kept, maxlen=self._share.of_last)

    def _to_blame(self) -> tuple[str, int]:
        """The scope with the most parked events, the narrowest of several, if all others' are as they should be."""
        found = []
        for scope in frozenset().union(*(scopes for scopes, _ in self._last)):
            theirs = [parked for scopes, parked in self._last if scope in scopes]
            others = [parked for scopes, parked in self._last if scope not in scopes]
            if others and not self._too_many(sum(others), len(others)):
                found.append((-sum(theirs), len(theirs), scope))
        parked, _, scope = min(found, default=(0, 0, FLOW))
        return scope, -parked

    def _too_many(self, parked: int, of: int) -> bool:
        return parked > self._share.most * of
