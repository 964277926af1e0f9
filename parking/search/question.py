"""A query as a condition on `EventSearch`, for the flows of one viewer.

Every word is hashed with the flow that it is looked for in, and with payload words only where the viewer may see
payloads: what is not the viewer's is not filtered out of the answer, it is never asked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parking.search.document import allowed, pair
from parking.search.grammar import LONGEST_PREFIX, Query, Term
from parking.search.numbers import of_flow
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

    @property
    def column(self) -> str:
        """Where the words are that the viewer may ask for."""
        return "words" if self.readable else "open_words"


def condition(query: Query, scopes: Iterable[Scope], shared: Shared = NOTHING_SHARED) -> Condition:
    """What an event of one of these flows must fulfil, for rows that are read one by one: each is compared with the
    words of its own flow only. `shared`: word → the numbers that may stand for it.
    """
    return _any([_of_flow(query, scope, shared) for scope in scopes])


def indexed(query: Query, scopes: Sequence[Scope], shared: Shared = NOTHING_SHARED) -> Condition:
    """The same for the index of words: the planner takes its time for each condition, so flows have theirs together.
    Words of different flows are different numbers, so no event has some of one flow and some of another.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for scope in scopes:
        alike[scope.column, tuple(_all_words(query, scope))].append(scope.flow)
    wanted = [_of_flows(query, flows, column, words, shared) for (column, words), flows in alike.items()]
    return _any([one for one in wanted if one.sql] + _alone(query, [scope.flow for scope in scopes]))


def _of_flows(query: Query, flows: list[int], column: str, words: Iterable[str], shared: Shared) -> Condition:
    parts = _beginnings(query, flows)
    for word in words:
        each = [of_flow(flow).number(word) for flow in flows]
        standing = [number for one in each for number in shared.get(one, ())]
        parts.append(Condition(f"{column} && %s::bigint[]", [each + standing]))
    return _all(parts)


def numbers(query: Query, scope: Scope) -> list[int]:
    """The words of the query as they are stored in this flow."""
    return list(map(of_flow(scope.flow).number, _all_words(query, scope)))


def _of_flow(query: Query, scope: Scope, shared: Shared) -> Condition:
    """The words are the flow's own: to look at the flow first (without an index, which has nothing to add) only spares
    where rows are read one by one that those of the others are compared, too.
    """
    parts = _beginnings(query, [scope.flow])
    parts += _has(numbers(query, scope), scope.column, shared)
    wanted = [_all([Condition("flow_id + 0 = %s", [scope.flow]), *parts])] if parts else []
    return _any(wanted + _alone(query, [scope.flow]))


def _beginnings(query: Query, flows: list[int]) -> list[Condition]:
    return [_begins(term.text, flows) for term in query.terms if term.begins]


def _alone(query: Query, flows: list[int]) -> list[Condition]:
    """A word alone may be the beginning of a key or an event id."""
    if not query.alone or query.terms[0].begins or len(query.alone.encode()) > LONGEST_PREFIX:
        return []
    return [_begins(query.alone, flows)]


def _has(words: Sequence[int], column: str, shared: Shared) -> list[Condition]:
    """All of the words, each by itself or by what stands for it (which is never in the open ones)."""
    own = [word for word in words if word not in shared]
    parts = [Condition(f"{column} && %s::bigint[]", [[word, *shared[word]]]) for word in words if word in shared]
    return [*parts, Condition(f"{column} @> %s::bigint[]", [own])] if own else parts


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
