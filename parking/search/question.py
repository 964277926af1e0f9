"""A query as a condition on `EventSearch`, for the flows of one viewer.

Every word is hashed with the flow that it is looked for in, and as a payload word only where the viewer may see
payloads: what is not the viewer's is not filtered out of the answer, it is never asked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parking.search.document import allowed, pair
from parking.search.grammar import LONGEST_PREFIX, Query, Term
from parking.search.numbers import of_flow, of_payloads
from parking.search.tokens import folded

Shared = Mapping[int, Sequence[int]]
NOTHING_SHARED: Shared = {}


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL with one `%s` for each parameter."""

    sql: str
    parameters: list[Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """One flow that is searched, its members that are found as path=value, and whether payload words are looked at."""

    flow: int
    readable: bool
    paths: object = ()

    def numbers(self, word: str) -> list[int]:
        """What the word may be stored as, of all that the viewer may ask for."""
        return [stored(self.flow).number(word) for stored in ((of_flow, of_payloads) if self.readable else (of_flow,))]


def condition(query: Query, scopes: Iterable[Scope], shared: Shared = NOTHING_SHARED) -> Condition:
    """What an event of one of these flows must fulfil, for rows that are read one by one: each is compared with the
    words of its own flow only. `shared`: word → the numbers that may stand for it.
    """
    return _any([_of_flow(query, scope, shared) for scope in scopes])


def indexed(query: Query, scopes: Sequence[Scope], shared: Shared = NOTHING_SHARED) -> Condition:
    """The same for the index of words: the planner takes its time for each condition, so flows have theirs together.
    Words of different flows are different numbers, so no event has some of one flow and some of another.
    """
    alike: dict[tuple[str, ...], list[Scope]] = defaultdict(list)
    for scope in scopes:
        alike[tuple(_all_words(query, scope))].append(scope)
    wanted = [_of_flows(query, some, words, shared) for words, some in alike.items()]
    return _any([one for one in wanted if one.sql] + _alone(query, [scope.flow for scope in scopes]))


def _of_flows(query: Query, scopes: list[Scope], words: Iterable[str], shared: Shared) -> Condition:
    each = [[number for scope in scopes for number in scope.numbers(word)] for word in words]
    return _all(_beginnings(query, [scope.flow for scope in scopes]) + _has(each, shared))


def numbers(query: Query, scope: Scope) -> list[int]:
    """All that the words of the query may be stored as in this flow, of what the viewer may ask for."""
    return [number for word in _all_words(query, scope) for number in scope.numbers(word)]


def _of_flow(query: Query, scope: Scope, shared: Shared) -> Condition:
    """The words are the flow's own: to look at the flow first (without an index, which has nothing to add) only spares
    where rows are read one by one that those of the others are compared, too.
    """
    parts = _beginnings(query, [scope.flow])
    parts += _has(list(map(scope.numbers, _all_words(query, scope))), shared)
    wanted = [_all([Condition("flow_id + 0 = %s", [scope.flow]), *parts])] if parts else []
    return _any(wanted + _alone(query, [scope.flow]))


def _beginnings(query: Query, flows: list[int]) -> list[Condition]:
    return [_begins(term.text, flows) for term in query.terms if term.begins]


def _alone(query: Query, flows: list[int]) -> list[Condition]:
    """A word alone may be the beginning of a key or an event id."""
    if not query.alone or query.terms[0].begins or len(query.alone.encode()) > LONGEST_PREFIX:
        return []
    return [_begins(query.alone, flows)]


def _has(words: Iterable[list[int]], shared: Shared) -> list[Condition]:
    """All of the words, each as one of the numbers that it may be stored as, or as what stands for one of them."""
    any_of = [[*each, *[standing for number in each for standing in shared.get(number, ())]] for each in words]
    parts = [Condition("words && %s::bigint[]", [each]) for each in any_of if len(each) > 1]
    single = [number for each in any_of if len(each) == 1 for number in each]
    return [*parts, Condition("words @> %s::bigint[]", [single])] if single else parts


def _all_words(query: Query, scope: Scope) -> list[str]:
    return [word for term in query.terms if not term.begins for word in _words(term, scope)]


def _words(term: Term, scope: Scope) -> list[str]:
    if scope.readable and term.path and folded(term.path) in allowed(scope.paths):
        return [pair(term.path, term.value)]
    return term.words


def _begins(text: str, flows: list[int]) -> Condition:
    """A key or an event id that begins with the text, as it is written: capitals matter here."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    first = text.encode()
    return Condition(
        "(flow_id = ANY(%s) AND (event_id LIKE %s OR (key >= %s AND key < %s)))",
        [flows, f"{escaped}%", first, after(first)],
    )


def after(first: bytes) -> bytes:
    """The least bytes beyond all that begin with `first`. UTF-8 never ends in 0xff."""
    return first[:-1] + bytes([first[-1] + 1])


def _all(parts: Sequence[Condition]) -> Condition:
    return _joined(" AND ", parts)


def _any(parts: Sequence[Condition]) -> Condition:
    return _joined(" OR ", parts) if parts else Condition("FALSE", [])


def _joined(word: str, parts: Sequence[Condition]) -> Condition:
    sql = word.join(part.sql if len(parts) == 1 else f"({part.sql})" for part in parts)
    return Condition(sql, [parameter for part in parts for parameter in part.parameters])
