"""A JSON text in lines, indented, every token as it was written: digit for digit, escapes and repeats included.

Nothing is parsed into numbers and nothing is called recursively, so no document can change, overflow or exhaust it. The
grammar is RFC 8259; where it is broken the caller shows the plain text instead.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_TOKEN = re.compile(
    rf"[ \t\n\r]*(?:(?P<string>{STRING})|(?P<digits>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<literal>true|false|null)|(?P<mark>[{}\[\]:,])|(?P<end>\Z))"
)
_CLOSES = {"{": "}", "[": "]"}


class NotJson(ValueError):
    """The text is not JSON; `at` is the index of the first character that does not fit."""

    def __init__(self, at: int) -> None:
        self.at = at
        super().__init__(f"not JSON at character {at + 1}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its depth, its spans (class, text) and the JSON pointer of the value that starts on it."""

    depth: int
    spans: tuple[tuple[str, str], ...]
    pointer: str | None


@dataclass(slots=True)
class _Open:
    """A container that is open: its closing mark, where it is, and the name or index of what is in it now."""

    close: str
    pointer: str
    name: str = ""
    index: int = -1
    expects: str = "first"  # first, name, colon, value, comma

    def child(self) -> str:
        return f"{self.pointer}/{self.name if self.close == '}' else self.index}"


@dataclass(slots=True)
class _Writer:
    lines: list[Line] = field(default_factory=list)
    spans: list[tuple[str, str]] = field(default_factory=list)
    pointer: str | None = None
    depth: int = 0

    def end_line(self) -> None:
        if self.spans:
            self.lines.append(Line(self.depth, tuple(self.spans), self.pointer))
        self.spans, self.pointer = [], None


def lines(text: str, *, most: int, unfinished: bool = False) -> tuple[list[Line], bool]:
    """At most `most` lines of the JSON text, and whether that is all of it.

    Raises NotJson where the text breaks the grammar; `unfinished` allows it to end too early, as a beginning does.
    """
    opened: list[_Open] = []
    writer = _Writer()
    try:
        for kind, token in _tokens(text):
            if len(writer.lines) >= most:
                return writer.lines[:most], False
            if kind != "end":
                _write(writer, opened, kind, token)
    except NotJson as error:
        if not unfinished or error.at < len(text):
            raise
    writer.end_line()
    return writer.lines, True


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Tokens in an order that RFC 8259 allows. Raises NotJson where it does not."""
    stack: list[str] = []
    at, allowed = 0, frozenset({"value"})
    while True:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise NotJson(_skip_blank(text, at))
        kind, token = found.lastgroup, found[found.lastgroup]
        role = _role(kind, token, allowed)
        if role not in allowed:
            raise NotJson(found.start(kind))
        yield (role if role == "name" else kind), token
        if role == "end":
            return
        if token in _CLOSES and kind == "mark":
            stack.append(token)
        elif role == "close":
            if not stack or _CLOSES[stack.pop()] != token:
                raise NotJson(found.start(kind))
        allowed = _next(role, token, stack)
        at = found.end()


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


def _role(kind: str, token: str, allowed: frozenset[str]) -> str:
    if kind == "string":
        return "name" if "name" in allowed else "value"
    if kind == "mark":
        return {":": "colon", ",": "comma", "}": "close", "]": "close"}.get(token, "value")
    return "end" if kind == "end" else "value"


def _next(role: str, token: str, stack: list[str]) -> frozenset[str]:
    if role == "value" and token == "{":
        return frozenset({"name", "close"})
    if role == "value" and token == "[":
        return frozenset({"value", "close"})
    if role == "name":
        return frozenset({"colon"})
    if role == "colon":
        return frozenset({"value"})
    if role == "comma":
        return frozenset({"name" if stack[-1] == "{" else "value"})
    return frozenset({"comma", "close"}) if stack else frozenset({"end"})


def _write(writer: _Writer, opened: list[_Open], kind: str, token: str) -> None:
    top = opened[-1] if opened else None
    if kind == "name":
        assert top is not None
        _begin(writer, top)
        top.name = _as_pointer(token)
        writer.spans.append(("name", token))
        writer.pointer = top.child()
    elif kind == "mark" and token == ":":
        writer.spans.append(("", ": "))
    elif kind == "mark" and token == ",":
        writer.spans.append(("", ","))
        writer.end_line()
    elif kind == "mark" and token in "}]":
        opened.pop()
        writer_was_empty = top is not None and top.expects == "first"
        if not writer_was_empty:
            writer.end_line()
            writer.depth -= 1
        writer.spans.append(("", token))
    else:
        _value(writer, opened, kind, token)


def _begin(writer: _Writer, top: _Open) -> None:
    """The first child of a container goes on a line of its own, one deeper."""
    if top.expects == "first":
        writer.end_line()
        writer.depth += 1
        top.expects = "more"


def _value(writer: _Writer, opened: list[_Open], kind: str, token: str) -> None:
    top = opened[-1] if opened else None
    pointer = ""
    if top is not None:
        if top.close == "]":
            _begin(writer, top)
            top.index += 1
        pointer = top.child()
    writer.pointer = pointer if writer.pointer is None else writer.pointer
    writer.spans.append(("" if kind == "mark" else kind, token))
    if kind == "mark":
        opened.append(_Open(_CLOSES[token], pointer))


def _as_pointer(name: str) -> str:
    """A member name as a reference token of a JSON pointer (RFC 6901), escapes of the JSON string resolved."""
    plain = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescape, name[1:-1])
    return plain.replace("~", "~0").replace("/", "~1")


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code.startswith("u"):
        return chr(int(code[1:], 16))
    return {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(code, code)
