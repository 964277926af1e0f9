"""Ordered headers as rows: text where it is UTF-8, hex where it is not, null and empty told apart, repeats named."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from console.show.unseen import runs

LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Shown:
    """`form` is text, hex, null or empty; `text` the beginning of what to show; `occurrence` is 2, 3, … for repeats."""

    name: str
    form: str
    text: str
    size: int
    whole: bool
    occurrence: int


def rows(headers: Iterable[tuple[str, bytes | None]]) -> list[Shown]:
    """One row for each header, in their order."""
    seen: Counter[str] = Counter()
    shown = []
    for name, value in headers:
        seen[name] += 1
        form, text = written(value)
        shown.append(
            Shown(
                name, form, text[:LONGEST], len(value or b""), len(text) <= LONGEST, seen[name] if seen[name] > 1 else 0
            )
        )
    return shown


def written(value: bytes | None) -> tuple[str, str]:
    """(form, text) of a header value: what an edit field can carry there and back without a change."""
    if value is None:
        return "null", ""
    if value == b"":
        return "text", ""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return "hex", value.hex()
    editable = all(not name for _, name in runs(text, one_line=True))
    return ("text", text) if editable else ("hex", value.hex())
