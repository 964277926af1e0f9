"""Why a value is shown as it is: what each way of reading it said, in words."""

from dataclasses import dataclass

from console.show.json_lines import NotJson, lines
from parking.decoding import decode

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way of reading, whether it fits, and what it said."""

    decoder: str
    fits: bool
    said: str


def verdicts(value: bytes | None) -> list[Verdict]:
    """What each decoder says about the value, the one that was chosen first."""
    if not value:
        return [Verdict("none", True, "there is no value" if value is None else "the value has 0 bytes")]
    found = [_json(value), _registry(value), _text(value), Verdict("hex", True, "always fits")]
    return sorted(found, key=lambda verdict: not verdict.fits)


def notes(value: bytes | None) -> tuple[str, ...]:
    """What a reader should know about the value: lone surrogates, NUL, base64 of JSON, depth."""
    return decode(value).notes if value and len(value) <= MOST_BYTES else ()


def _text(value: bytes) -> Verdict:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError as error:
        return Verdict("UTF-8 text", False, f"byte {error.start + 1} (0x{value[error.start]:02x}) does not fit")
    return Verdict("UTF-8 text", True, f"{len(text)} characters")


def _json(value: bytes) -> Verdict:
    if len(value) > MOST_BYTES:
        return Verdict("JSON", value.lstrip()[:1] in (b"{", b"["), "longer than 1 MB: only its beginning was looked at")
    try:
        lines(value.decode("utf-8"), most=MOST_BYTES)
    except UnicodeDecodeError as error:
        return Verdict("JSON", False, f"not UTF-8 at byte {error.start + 1}")
    except NotJson as error:
        return Verdict("JSON", False, f"does not fit from character {error.at + 1} on")
    return Verdict("JSON", True, "whole and valid (RFC 8259)")


def _registry(value: bytes) -> Verdict:
    if len(value) >= 5 and value[0] == 0:
        number = int.from_bytes(value[1:5], "big")
        return Verdict("schema registry frame", False, f"the first 5 bytes would name schema {number}; not decoded")
    return Verdict("schema registry frame", False, "does not start with a zero byte")
