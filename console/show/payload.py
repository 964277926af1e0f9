"""The first part of a value as a page shows it: JSON in lines with the errors where they are, else text, else hex."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.show.json_lines import Line, NotJson, lines
from parking.decoding import Decoded, readable

MOST_BYTES = 64_000
MOST_LINES = 600
MOST_HEX = 4_096


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """One line of JSON and what is wrong on it, in words."""

    depth: int
    spans: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """`form` is json, text, hex, empty or null; `whole` says whether everything is shown, `total` counts bytes."""

    form: str
    total: int
    whole: bool = True
    lines: tuple[MarkedLine, ...] = ()
    text: str = ""


def shown(
    value: bytes | None,
    decoded: Decoded | None,
    *,
    errors: Iterable[Mapping[str, object]] = (),
    notes: Mapping[str, str] | None = None,
) -> Shown:
    """What the value means, where its bytes are no text of their own; else the value as `show` shows it."""
    if value is None or decoded is None or not decoded.translated:
        return show(value, errors=errors, notes=notes)
    text = decoded.written
    if len(text) > MOST_BYTES:
        return _cut(text[:MOST_BYTES], total=len(value), errors=list(errors))
    found, complete = lines(text, most=MOST_LINES, unfinished=not decoded.whole)
    marked = _marked(found, list(errors), notes or {})
    return Shown(form="json", total=len(value), whole=decoded.whole and complete, lines=marked)


def show(
    value: bytes | None, *, errors: Iterable[Mapping[str, object]] = (), notes: Mapping[str, str] | None = None
) -> Shown:
    """The value in the best form that fits it. `errors` are validation errors; `notes` adds a text by JSON pointer."""
    if not value:
        return Shown(form="null" if value is None else "empty", total=0)
    text, whole = _decoded(value)
    if text is None:
        return hexadecimal(value)
    try:
        found, complete = lines(text, most=MOST_LINES)
    except NotJson:
        if whole:
            return Shown(form="text", total=len(value), text=text)
        return _cut(text, total=len(value), errors=list(errors))
    return Shown(
        form="json", total=len(value), whole=whole and complete, lines=_marked(found, list(errors), notes or {})
    )


def _cut(text: str, *, total: int, errors: list[Mapping[str, object]]) -> Shown:
    """The readable beginning of a JSON text that was cut off: up to its last whole member."""
    for end in (text.rfind(","), text.rfind("{"), text.rfind("[")):
        found = _beginning(text[:end]) if end > 0 else None
        if found:
            return Shown(form="json", total=total, whole=False, lines=_marked(found, errors, {}))
    return Shown(form="text", total=total, whole=False, text=text)


def _beginning(text: str) -> list[Line] | None:
    try:
        return lines(text, most=MOST_LINES, unfinished=True)[0]
    except NotJson:
        return None


def as_text(value: bytes) -> Shown:
    """The text exactly as it arrived, nothing indented; hex where it is not UTF-8."""
    text, whole = _decoded(value)
    return hexadecimal(value) if text is None else Shown(form="text", total=len(value), whole=whole, text=text)


def hexadecimal(value: bytes) -> Shown:
    """Sixteen bytes a line: offset, hex, and ASCII with a dot for everything else."""
    rows = (_hex_row(at, value[at : at + 16]) for at in range(0, min(len(value), MOST_HEX), 16))
    return Shown(form="hex", total=len(value), whole=len(value) <= MOST_HEX, text="\n".join(rows))


def _hex_row(at: int, piece: bytes) -> str:
    plain = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)
    return f"{at:08x}  {piece[:8].hex(' '):<23}  {piece[8:].hex(' '):<23}  {plain}"


def _decoded(value: bytes) -> tuple[str | None, bool]:
    """The first part as text, None where it is not UTF-8; and whether it is all. Never cuts inside a character."""
    whole = len(value) <= MOST_BYTES
    part = value if whole else value[:MOST_BYTES]
    try:
        return part.decode("utf-8"), whole
    except UnicodeDecodeError as error:
        if not whole and error.start >= len(part) - 3:
            return part[: error.start].decode("utf-8"), whole
        return None, whole


def _marked(found: list[Line], errors: list[Mapping[str, object]], notes: Mapping[str, str]) -> tuple[MarkedLine, ...]:
    wrong: dict[int, list[str]] = {}
    where = {line.pointer: index for index, line in reversed(list(enumerate(found))) if line.pointer is not None}
    for error in errors:
        path = pointer(str(error.get("path", "")))
        at, inside = _nearest(path, where)
        wrong.setdefault(at, []).append(_note(error, path if inside else "") + notes.get(path, ""))
    return tuple(MarkedLine(line.depth, _readable(line), tuple(wrong.get(at, ()))) for at, line in enumerate(found))


def _readable(line: Line) -> tuple[tuple[str, str], ...]:
    """Characters instead of their escapes, where that means the same."""
    return tuple((kind, readable(text) if kind in ("string", "name") else text) for kind, text in line.spans)


def _nearest(path: str, where: Mapping[str, int]) -> tuple[int, bool]:
    """The line of the value, or of the nearest container that should have had it (then True)."""
    missing = False
    while path not in where and path:
        path, missing = path.rpartition("/")[0], True
    return where.get(path, 0), missing


def _note(error: Mapping[str, object], missing: str) -> str:
    expected = str(error.get("expected", ""))
    text = f"expected {expected}" if expected else str(error.get("hint", "")) or "not valid"
    return f"{missing.rpartition('/')[2]}: {text}" if missing else text


def pointer(path: str) -> str:
    """`/a/0`, `$.a[0]`, `a[0]` or `a.0` as a JSON pointer."""
    if not path or path.startswith("/"):
        return path.rstrip("/") if path != "/" else ""
    names = re.findall(r"[^.\[\]]+", path.removeprefix("$"))
    return "".join("/" + name.strip("'\"").replace("~", "~0").replace("/", "~1") for name in names)


def scalars(value: bytes | None, decoded: Decoded | None = None) -> dict[str, str]:
    """JSON pointer → the scalar that stands there, as written; empty where the value is not short JSON."""
    text, whole = _decoded(value) if value else (None, False)
    if decoded is not None and decoded.translated:
        text, whole = decoded.written, decoded.whole and len(decoded.written) <= MOST_BYTES
    if text is None or not whole:
        return {}
    try:
        found, _ = lines(text, most=MOST_LINES)
    except NotJson:
        return {}
    return {
        line.pointer: token
        for line in found
        if line.pointer is not None
        for kind, token in line.spans
        if kind in ("string", "digits", "literal")
    }
