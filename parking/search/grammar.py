"""What was typed into the box, as terms. All of them must be in an event.

    payment ab-12         both words
    "account 7"           one term, blanks included: each of its words
    ab-1*                 a key or an event id that begins with ab-1
    order.id=42           a JSON member, where the flow names it in its search paths; else the words

A single term alone finds keys and event ids that begin with it, too. Everything else is plain text: `%`, `_`, `(` and
`\\` are themselves. Pure.
"""

import re
from dataclasses import dataclass

from parking.search.tokens import sought

LONGEST = 4000
MOST_TERMS = 20
LONGEST_PREFIX = 256

_TERM = re.compile(
    r'(?P<path>[^\s"=]+)="(?P<value>[^"]*)"(?=\s|$)|"(?P<quoted>[^"]+)"(?P<star>\*?)(?=\s|$)|(?P<plain>\S+)'
)
_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")


class Unsearchable(ValueError):
    """What was typed cannot be looked for. The message is for people; `column` counts from 1, None = all of it."""

    def __init__(self, message: str, column: int | None = None) -> None:
        self.column = column
        super().__init__(message if column is None else f"Column {column}: {message}")


@dataclass(frozen=True, slots=True)
class Term:
    """`begins`: a key or an event id begins with `text`. `path` is set where it may be a JSON member."""

    text: str
    begins: bool = False
    path: str = ""
    value: str = ""

    @property
    def words(self) -> list[str]:
        return sought(self.text)


@dataclass(frozen=True, slots=True)
class Query:
    """Nothing to look for where there are no terms."""

    terms: tuple[Term, ...]

    @property
    def alone(self) -> str:
        """The one term that may be the beginning of a key or an event id; empty where there are several."""
        return self.terms[0].text if len(self.terms) == 1 else ""


def parse(text: str) -> Query:
    """The terms of what was typed. Raises Unsearchable."""
    _check(text)
    found = list(_TERM.finditer(text))
    if len(found) > MOST_TERMS:
        raise Unsearchable(f"{len(found)} words are too many: at most {MOST_TERMS}.", found[MOST_TERMS].start() + 1)
    terms = tuple(map(_term, found))
    for term, match in zip(terms, found, strict=True):
        _check_term(term, match.start() + 1, alone=len(terms) == 1)
    return Query(terms)


def _check(text: str) -> None:
    if len(text) > LONGEST:
        raise Unsearchable(f"{len(text)} characters are too many: at most {LONGEST}.", LONGEST + 1)
    if impossible := _IMPOSSIBLE.search(text):
        what = "A NUL" if impossible[0] == "\0" else "Half a character (a lone surrogate)"
        raise Unsearchable(f"{what} cannot be looked for. Leave it out.", impossible.start() + 1)


def _term(match: re.Match[str]) -> Term:
    if match["path"]:
        return Term(f"{match['path']}={match['value']}", path=match["path"], value=match["value"])
    if match["quoted"]:
        return Term(match["quoted"], begins=bool(match["star"]))
    text = match["plain"]
    if len(text) > 1 and text.endswith("*"):
        return Term(text[:-1], begins=True)
    path, _, value = text.partition("=")
    return Term(text, path=path if value else "", value=value)


def _check_term(term: Term, column: int, *, alone: bool) -> None:
    if term.begins and len(term.text.encode()) > LONGEST_PREFIX:
        raise Unsearchable(f"The beginning of a key has at most {LONGEST_PREFIX} bytes here. Leave out the *.", column)
    if not term.begins and not alone and not term.words:
        raise Unsearchable(f"“{term.text}” has no letter, digit or symbol that could be looked for.", column)
