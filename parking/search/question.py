"""A query as a condition on `EventSearch`, for the flows of one viewer.

Every word is hashed with the flow that it is looked for in, and with payload words only where the viewer may see
payloads: what is not the viewer's is not filtered out of the answer, it is never asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from parking.search.document import allowed, pair
from parking.search.grammar import LONGEST_PREFIX, Query, Term
from parking.search.numbers import of_flow
from parking.search.tokens import folded


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


def condition(query: Query, scopes: Iterable[Scope]) -> Condition:
    """What an event of one of these flows must fulfil."""
    return _any([_of_flow(query, scope) for scope in scopes])


def _of_flow(query: Query, scope: Scope) -> Condition:
    column = "words" if scope.readable else "open_words"
    words = [word for term in query.terms if not term.begins for word in _words(term, scope)]
    parts = [_begins(term.text, scope.flow) for term in query.terms if term.begins]
    if words:
        parts.append(Condition(f"{column} @> %s::bigint[]", [list(map(of_flow(scope.flow).number, words))]))
    wanted = [_all(parts)] if parts else []
    alone = query.alone
    if alone and not query.terms[0].begins and len(alone.encode()) <= LONGEST_PREFIX:
        wanted.append(_begins(alone, scope.flow))
    return _any(wanted)


def _words(term: Term, scope: Scope) -> list[str]:
    if scope.readable and term.path and folded(term.path) in allowed(scope.paths):
        return [pair(term.path, term.value)]
    return term.words


def _begins(text: str, flow: int) -> Condition:
    """A key or an event id that begins with the text, as it is written: capitals matter here."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    first = text.encode()
    return Condition(
        "(flow_id = %s AND (event_id LIKE %s OR (key >= %s AND key < %s)))", [flow, f"{escaped}%", first, after(first)]
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
