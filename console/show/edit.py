"""A value in an edit field and back, without a change to any byte that was not edited.

A browser's text area changes line ends to CRLF, drops a first newline and replaces NUL. So what comes back is compared
with what was shown, line ends are given back, and what a text area cannot carry is edited as hex.
"""

import re
from dataclasses import dataclass

from parking.decoding import JSON, Decoded, NotWritable, laid_out, rewritable, rewrite

MOST_TEXT = 400_000


class NotEditable(ValueError):
    """What was typed cannot be turned into bytes; the message is for people."""


@dataclass(frozen=True, slots=True)
class Field:
    """What an edit field starts with: `form` is text, hex, null or decoded; too long for a field: `large`."""

    form: str
    text: str

    @property
    def large(self) -> bool:
        return self.form == "large"


def field(value: bytes | None) -> Field:
    """The value as a text area can carry it."""
    if value is None:
        return Field("null", "")
    if len(value) > MOST_TEXT:
        return Field("large", "")
    text = _text(value)
    return Field("hex", _grouped(value)) if text is None else Field("text", text)


def decoded_field(value: bytes | None, decoded: Decoded | None) -> Field | None:
    """The JSON that the value means, where that can be edited: it goes back to the very bytes; else None."""
    if value is None or decoded is None or not decoded.translated or not rewritable(value, decoded):
        return None
    text = _text(decoded.written.encode()) if _of_json(decoded) else laid_out(decoded.written)
    return Field("decoded", text) if text is not None and len(text) <= MOST_TEXT else None


def value_of_decoded(typed: str, *, before: bytes, decoded: Decoded) -> bytes:
    """The bytes of the JSON that was typed, by the schema of `before`, which is shown as `decoded`.

    Raises NotEditable with what does not fit the schema.
    """
    started = decoded_field(before, decoded)
    if started is None:
        why = " ".join(decoded.notes[:1])
        raise NotEditable(f"This value cannot be edited as JSON now: edit it as hex, or upload it. {why}".strip())
    if _unix(typed) == _unix(started.text):
        return before
    if _of_json(decoded):
        own = value_of("text", typed, before=decoded.written.encode())
        typed = (own or b"").decode()
    try:
        return rewrite(typed, before, decoded)
    except NotWritable as error:
        raise NotEditable(f"{error}.") from None


def _of_json(decoded: Decoded) -> bool:
    """Whether the bytes behind the frame are the JSON themselves, so that even its blanks count."""
    return decoded.schema is not None and decoded.schema.kind == JSON


def value_of(form: str, typed: str, *, before: bytes | None) -> bytes | None:
    """The bytes that were typed. `before` is what the field started with: its line ends are kept.

    Raises NotEditable for hex that is none, and for text that is not Unicode.
    """
    if form == "null":
        return None
    if form == "hex":
        return _from_hex(typed)
    plain = _unix(typed)
    if before is not None and (old := _text(before)) is not None and _unix(old) == plain:
        return before
    line_end = "\r\n" if before is not None and b"\r\n" in before else "\n"
    try:
        return plain.replace("\n", line_end).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotEditable(
            f"Character {error.start + 1} is half of a surrogate pair: remove it, or edit as hex."
        ) from None


def _text(value: bytes) -> str | None:
    """The value as text if a text area gives it back whole: UTF-8, no NUL, line ends of one kind."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lone = text.replace("\r\n", "")
    mixed = "\r" in lone or ("\r\n" in text and "\n" in lone)
    return None if "\0" in text or mixed else text


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _from_hex(typed: str) -> bytes:
    digits = re.sub(r"\s+", "", typed)
    try:
        return bytes.fromhex(digits)
    except ValueError:
        wrong = re.search(r"[^0-9a-fA-F]", digits)
        what = f"{wrong[0]!r} is no hex digit" if wrong else "there is an odd number of digits"
        raise NotEditable(f"Hex was expected, two digits for each byte; {what}.") from None


def _grouped(value: bytes) -> str:
    return "\n".join(value[at : at + 16].hex(" ") for at in range(0, len(value), 16))
