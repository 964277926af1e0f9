"""Values without a schema: JSON, text, hex. Nothing is turned into a number or an object, so nothing is changed."""

import base64
import binascii
import json
import re

from parking.decoding.report import LAID_OUT, Decoded, Verdict
from parking.decoding.special import Special, half_pairs, look, sentences
from parking.json_member import NotJson

LARGEST_JSON = 1_000_000
"""Characters up to which a text is read to its end to find out whether it is JSON."""
HEX_SHOWN = 64 * 1024

_LOOSE = re.compile(r"(?<![\w\"])(?:NaN|-?Infinity)(?![\w\"])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def text_of(value: bytes) -> tuple[str | None, Verdict]:
    """The value as text, None where it is none."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, Verdict("text", False, f"byte {error.start + 1} (0x{value[error.start]:02x}) is not UTF-8")
    return text, Verdict("text", True, f"{len(text)} characters of UTF-8")


def json_of(text: str | None) -> tuple[Special | None, Verdict]:
    """What is special about a JSON text, None where it is no JSON."""
    if text is None:
        return None, Verdict("JSON", False, "it is not UTF-8")
    if len(text) > LARGEST_JSON:
        fits = text.lstrip()[:1] in ("{", "[")
        said = "longer than 1 MB: only its first character was looked at"
        return Special() if fits else None, Verdict("JSON", fits, said)
    try:
        return look(text), Verdict("JSON", True, "whole and valid (RFC 8259)")
    except NotJson as error:
        return None, Verdict("JSON", False, f"it does not fit from character {error.at + 1} on")


def as_json(text: str, special: Special, *, notes: tuple[str, ...] = (), lossy: bool = False) -> Decoded:
    said = [*notes, *sentences(special, text)]
    if len(text) > LAID_OUT:
        said.append(f"More than {LAID_OUT // 1024} KiB: only the beginning is laid out.")
    preview = base64_of_json(text)
    if preview:
        said.append("Looks like the base64 of JSON: the producer may have serialized the bytes a second time.")
    return Decoded("json", text, lossy=lossy or half_pairs(text) > 0, notes=tuple(said), preview=preview)


def as_text(text: str) -> Decoded:
    notes = ["Not strict JSON: NaN and Infinity are no numbers there."] if _loose_json(text) else []
    shown, replaced = _CONTROL.subn("\ufffd", text)
    if replaced:
        notes.append(f"{replaced} control characters are shown as what they are called, or as \ufffd.")
    return Decoded("text", shown, lossy=bool(replaced), notes=tuple(notes))


def _loose_json(text: str) -> bool:
    """Whether it would be JSON if NaN and Infinity were numbers, as Python and JavaScript's older kin write them."""
    if len(text) > LARGEST_JSON or not _LOOSE.search(text):
        return False
    return json_of(_LOOSE.sub("0", text))[0] is not None


def not_utf8(value: bytes) -> Decoded:
    """JSON with a few bytes that are no text, else hex."""
    loose = value.decode("utf-8", "replace")
    special = json_of(loose)[0] if len(value) <= LARGEST_JSON else None
    if special is not None:
        return as_json(loose, special, notes=("Some bytes are not UTF-8; they are shown as \ufffd.",), lossy=True)
    return as_hex(value)


def as_hex(value: bytes) -> Decoded:
    cut = value[:HEX_SHOWN]
    lines = (f"{at:08x}  {cut[at : at + 16].hex(' ')}" for at in range(0, len(cut), 16))
    more = (f"The first {HEX_SHOWN} of {len(value)} bytes.",) if len(value) > HEX_SHOWN else ()
    return Decoded("hex", "\n".join(lines), whole=not more, lossy=bool(more), notes=("Not UTF-8 text.", *more))


def base64_of_json(text: str) -> str:
    """The JSON inside, where the whole text is one JSON string of base64; else empty."""
    stripped = text.strip()
    if not stripped.startswith('"') or len(stripped) < 10:
        return ""
    try:
        inner = base64.b64decode(json.loads(stripped), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return inner if inner[:1] in ("{", "[") else ""
