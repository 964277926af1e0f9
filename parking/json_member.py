"""One member of a JSON text, as written.

A parser would change what is written (a huge number, the case of an escape) and may fail on depth or digits. So the
text is only scanned, without recursion and without turning anything into a number (RFC 8259; of duplicate names the
last one counts, as in nearly every parser).
"""

import json
import re
from collections.abc import Iterator

_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
_TOKEN = re.compile(
    rf"[ \t\n\r]*(?:(?P<string>{_STRING})"
    r"|(?P<scalar>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)"
    r"|(?P<mark>[{}\[\]:,]))"
)
_BLANK = re.compile(r"[ \t\n\r]*")
_VALUE = frozenset(("string", "scalar", "{", "["))
_CLOSES = {"{": "}", "[": "]"}


class NotJson(ValueError):
    """The text is not JSON; `at` is the index of the first character that does not fit."""

    def __init__(self, at: int) -> None:
        self.at = at
        super().__init__(f"not JSON from character {at + 1} on")


def is_json(text: str) -> bool:
    """Whether the text is JSON, whatever its depth and the size of its numbers."""
    try:
        return all(True for _ in values(text))
    except NotJson:
        return False


def json_member(document: bytes, path: list[str]) -> bytes | None:
    """The member of `document` at `path` (nested objects): a text as its UTF-8 bytes, anything else as written.

    None where the document is not JSON or has no such member. A text that has no UTF-8 (half a surrogate pair) is
    given as written.
    """
    try:
        text = document.decode("utf-8")
        for name in path:
            found = _members(text).get(name)
            if found is None:
                return None
            text = text[found[0] : found[1]]
    except ValueError:
        return None
    return _as_bytes(text)


def _as_bytes(text: str) -> bytes:
    if text.startswith('"'):
        try:
            return str(json.loads(text)).encode("utf-8")
        except UnicodeEncodeError:
            return text.encode("utf-8")
    return text.encode("utf-8")


def _members(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each member of the outermost object stands; none in other JSON. Raises NotJson."""
    members: dict[str, tuple[int, int]] = {}
    name: str | None = None
    for depth, is_name, start, end in values(text):
        if depth == 1 and is_name:
            name = json.loads(text[start:end])
        elif depth == 1 and name is not None:
            members[name] = (start, end)
    return members


def values(text: str) -> Iterator[tuple[int, bool, int, int]]:
    """Every name and value of a JSON text: (depth, is it a name, start, end), a container after what it contains.

    Raises NotJson where the text breaks the grammar.
    """
    opened: list[tuple[str, int]] = []
    at, allowed, naming = 0, _VALUE, False
    while allowed:
        kind, start, at = _token(text, at, allowed)
        if kind in _CLOSES:
            opened.append((kind, start))
            naming = kind == "{"
            allowed = frozenset(("string", "}")) if naming else _VALUE | {"]"}
        elif kind == ",":
            naming = opened[-1][0] == "{"
            allowed = frozenset(("string",)) if naming else _VALUE
        elif kind == ":":
            naming, allowed = False, _VALUE
        elif naming and kind == "string":
            yield len(opened), True, start, at
            allowed = frozenset((":",))
        else:
            if kind in _CLOSES.values():
                _, start = opened.pop()
            yield len(opened), False, start, at
            allowed = frozenset((",", _CLOSES[opened[-1][0]])) if opened else frozenset()
    if _BLANK.fullmatch(text, at) is None:
        raise NotJson(at)


def _token(text: str, at: int, allowed: frozenset[str]) -> tuple[str, int, int]:
    """The token at `at`: its kind (string, scalar or the mark itself), start and end."""
    token = _TOKEN.match(text, at)
    if token is None or token.lastgroup is None:
        raise NotJson(at)
    kind = token[token.lastgroup] if token.lastgroup == "mark" else token.lastgroup
    if kind not in allowed:
        raise NotJson(at)
    return kind, token.start(token.lastgroup), token.end()
