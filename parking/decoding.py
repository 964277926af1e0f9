"""Bytes as people read them: JSON in shape and digit for digit, else text, else hex. Never raises.

Nothing is turned into a number or an object on the way, so nothing can be rounded, merged or refused: the tokens of
the text are only laid out. What cannot be shown as it is gets a visible mark and a note, and `lossy` says so.
"""

import base64
import binascii
import json
import re
from dataclasses import dataclass

from parking.json_member import is_json

LAID_OUT = 256 * 1024
"""Characters up to which JSON is laid out; more is shown as it is written."""
DEEPEST = 40
HEX_SHOWN = 64 * 1024

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_ESCAPE = re.compile(rf"{_PAIR.pattern}|\\u[0-9a-fA-F]{{4}}|\\.")
_LOOSE = re.compile(r"(?<![\w\"])(?:NaN|-?Infinity)(?![\w\"])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """`form` is null, empty, json, text or hex; `text` is what to show; `notes` are sentences for people.

    `lossy`: what is shown is not all that the bytes say. `preview` is what the text holds in another wrapping.
    """

    form: str
    text: str
    lossy: bool = False
    notes: tuple[str, ...] = ()
    preview: str = ""


def decode(value: bytes | None) -> Decoded:
    """Show a key or a value."""
    if value is None:
        return Decoded("null", "null")
    if not value:
        return Decoded("empty", "")
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return _not_utf8(value)
    if is_json(text):
        return _json(text)
    return _text(text)


def _not_utf8(value: bytes) -> Decoded:
    loose = value.decode("utf-8", "replace")
    if is_json(loose):
        shown = _json(loose)
        notes = ("Some bytes are not UTF-8; they are shown as \ufffd.", *shown.notes)
        return Decoded("json", shown.text, True, notes)
    cut = value[:HEX_SHOWN]
    lines = (f"{at:08x}  {cut[at : at + 16].hex(' ')}" for at in range(0, len(cut), 16))
    more = (f"The first {HEX_SHOWN} of {len(value)} bytes.",) if len(value) > HEX_SHOWN else ()
    return Decoded("hex", "\n".join(lines), bool(more), ("Not UTF-8 text.", *more))


def _json(text: str) -> Decoded:
    notes: list[str] = []
    if len(text) > LAID_OUT:
        notes.append(f"More than {LAID_OUT // 1024} KiB: shown as it is written.")
        return Decoded("json", text, False, tuple(notes))
    shown, deepest = _laid_out(text)
    if deepest > DEEPEST:
        notes.append(f"Nested {deepest} deep; laid out to {DEEPEST}.")
    halves = _half_pairs(text)
    if halves:
        notes.append(f"{halves} escapes are half of a character (a lone surrogate) and are shown as \ufffd.")
    if "\\u0000" in shown:
        notes.append("Holds a NUL character, shown as \\u0000.")
    preview = _base64_preview(text)
    if preview:
        notes.append("Looks like the base64 of JSON: the producer may have serialized the bytes a second time.")
    return Decoded("json", shown, bool(halves), tuple(notes), preview)


def _text(text: str) -> Decoded:
    notes = ["Not strict JSON: NaN and Infinity are no numbers there."] if _LOOSE.search(text) else []
    shown, replaced = _CONTROL.subn("\ufffd", text)
    if replaced:
        notes.append(f"{replaced} control characters are shown as \ufffd.")
    return Decoded("text", shown, bool(replaced), tuple(notes))


def _laid_out(text: str) -> tuple[str, int]:
    """The tokens on lines of their own, indented by two; and how deep they nest."""
    out: list[str] = []
    depth = deepest = 0
    previous = ""
    for token in _TOKEN.findall(text):
        if token in "}]":
            depth -= 1
            if previous not in ("{", "["):
                out.append(_line(depth))
        elif previous in ("{", "[", ","):
            out.append(_line(depth))
        out.append(": " if token == ":" else _readable(token) if token[0] == '"' else token)
        if token in "{[":
            depth += 1
            deepest = max(deepest, depth)
        previous = token
    return "".join(out), deepest


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, DEEPEST)


def _readable(string: str) -> str:
    """A JSON string with its characters instead of their escapes, where that can be read and means the same."""
    return _ESCAPE.sub(_character, string) if "\\u" in string else string


def _character(escape: re.Match[str]) -> str:
    written = escape[0]
    if not written.startswith("\\u"):
        return written
    character = json.loads(f'"{written}"')
    if len(character) == 1 and "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return str(character) if character.isprintable() and character not in '"\\' else written


def _half_pairs(text: str) -> int:
    escapes = (found[0] for found in _ESCAPE.finditer(text))
    return sum(len(e) == 6 and e[2] in "dD" and e[3] in "89abAB" + "cdefCDEF" for e in escapes)


def _base64_preview(text: str) -> str:
    stripped = text.strip()
    if not stripped.startswith('"') or len(stripped) < 10:
        return ""
    try:
        inner = base64.b64decode(json.loads(stripped), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return inner if inner[:1] in "{[" and inner[:1] else ""
