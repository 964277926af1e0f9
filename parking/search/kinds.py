"""Words that many events have in common: kept once, with a number of their own, which stands in for them.

Half the words of an event and more are those of every event of its kind: names of headers and members, texts that never
change. Taking them into the index again with each event was most of its cost. So the first `LEARNED_FROM` events of a
kind (flow and event type) show what they share, and whichever event has all of that gets one number for it. Whoever
asks for one of these words asks for the number, too (`common`). Nothing depends on what was learned: an event
that lacks one of the words keeps all its own.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from parking.search.numbers import Numbers, each_once, number, of_payloads

LEARNED_FROM = 32
FEWEST = 8
"""Runs that are worth a number of their own."""
MOST_KINDS = 1000
"""Kinds that are learned, so that whoever invents event types takes no memory; the others keep all their words."""
MOST_OF_A_KIND = 4
"""Of these, the latest are tried with each event."""


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """`element` stands for all words of these runs. Only equal to itself: there are few, and every event asks."""

    runs: frozenset[bytes]
    element: bytes
    words: tuple[int, ...]

    @property
    def number(self) -> int:
        return number(self.element)


class Kind:
    """What the events of one kind have in common, as far as it is known."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._known: list[Common] = []
        self._shared: set[bytes] = set()
        self._seen, self._enough = 0, LEARNED_FROM

    def of(self, runs: AbstractSet[bytes]) -> Common | None:
        """What stands for some of the runs of one event; None where nothing that is known does."""
        for common in self._known:
            if runs >= common.runs:
                return common
        self._learn(runs)
        return None

    def _learn(self, runs: AbstractSet[bytes]) -> None:
        """From those that nothing stands for yet; each time from twice as many, so that it ends where they differ."""
        self._shared = self._shared & runs if self._seen else set(runs)
        self._seen += 1
        if self._seen == self._enough:
            self._seen, self._enough = 0, 2 * self._enough
            if len(self._shared) >= FEWEST:
                self._known = [make(self._shared, self._numbers), *self._known][:MOST_OF_A_KIND]


def make(runs: Iterable[bytes], numbers: Numbers) -> Common:
    """The same number for the same runs; no text has such a word."""
    shared = sorted(runs)
    each = each_once(b"".join(map(numbers.__getitem__, shared)))
    return Common(frozenset(shared), numbers.element(b"\n".join(shared) + b"\n"), tuple(map(number, each)))


class Kinds:
    """What one index process has learned."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[int, str], Kind] = {}

    def of(self, flow: int, event_type: str) -> Kind | None:
        kind = self._kinds.get((flow, event_type))
        if kind is None and len(self._kinds) < MOST_KINDS:
            kind = self._kinds[flow, event_type] = Kind(of_payloads(flow))
        return kind
