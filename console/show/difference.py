"""What an amendment changes, line by line: JSON in its lines, so that a moved brace is not a change; else the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from console.show.headers import Shown
from console.show.headers import rows as rows_of
from console.show.json_lines import NotJson, lines
from console.show.texts import size
from parking.decoding import Decoded
from parking.record import Headers

MOST_BYTES = 200_000
MOST_LINES = 3_000
AROUND = 3


@dataclass(frozen=True, slots=True)
class Row:
    """`kind` is same, gone, came, changed (both sides, side by side only) or apart (words about lines left out)."""

    kind: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Meant:
    """What two values mean as JSON, where their bytes are no text of their own; None where that is not known."""

    before: Decoded | None = None
    after: Decoded | None = None


NOTHING = Meant()


def in_one(before: bytes | None, after: bytes | None, meant: Meant = NOTHING) -> list[Row]:
    """One column, as in a patch: what goes, then what comes, with three lines around."""
    rows: list[Row] = []
    for row in side_by_side(before, after, meant):
        if row.kind == "changed":
            rows += [Row("gone", before=row.before), Row("came", after=row.after)]
        else:
            rows.append(row)
    return rows


def side_by_side(before: bytes | None, after: bytes | None, meant: Meant = NOTHING) -> list[Row]:
    """Two columns. Empty where nothing changed."""
    if before == after:
        return []
    left, right = _comparable(before, after, meant)
    if len(left) > MOST_LINES or len(right) > MOST_LINES:
        return [Row("apart", f"too long to compare here: {len(left)} and {len(right)} lines; download both")]
    return list(_rows(left, right))


def _rows(left: list[str], right: list[str]) -> Iterator[Row]:
    at = 0
    for group in SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(AROUND):
        yield from _between(left[at : group[0][1]])
        for tag, i1, i2, j1, j2 in group:
            yield from _block(tag, left[i1:i2], right[j1:j2])
        at = group[-1][2]
    yield from _between(left[at:])


def _between(unchanged: list[str]) -> Iterator[Row]:
    """Lines away from any change: a few are shown, many are counted."""
    if len(unchanged) <= AROUND:
        yield from (Row("same", line, line) for line in unchanged)
    else:
        yield Row("apart", f"{len(unchanged)} lines unchanged")


def _block(tag: str, left: list[str], right: list[str]) -> Iterator[Row]:
    if tag == "equal":
        yield from (Row("same", line, line) for line in left)
        return
    both = min(len(left), len(right))
    yield from (Row("changed", old, new) for old, new in zip(left, right, strict=False))
    yield from (Row("gone", before=line) for line in left[both:])
    yield from (Row("came", after=line) for line in right[both:])


def _comparable(before: bytes | None, after: bytes | None, meant: Meant) -> tuple[list[str], list[str]]:
    """Both as JSON lines where that shows the change, else both as text, else as hex."""
    left, right = _json(_document(before, meant.before)), _json(_document(after, meant.after))
    if left is not None and right is not None and left != right:
        return left, right
    texts = _text(before), _text(after)
    if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
        return texts[0], texts[1]
    return _hex(before), _hex(after)


def _document(value: bytes | None, decoded: Decoded | None) -> bytes | None:
    if decoded is None or not decoded.translated:
        return value
    return decoded.written.encode() if decoded.whole else None


def _json(value: bytes | None) -> list[str] | None:
    if value is None or len(value) > MOST_BYTES:
        return None
    try:
        found, whole = lines(value.decode("utf-8"), most=MOST_LINES)
    except (UnicodeDecodeError, NotJson):
        return None
    return ["  " * line.depth + "".join(text for _, text in line.spans) for line in found] if whole else None


def _text(value: bytes | None) -> list[str] | None:
    if value is None:
        return ["null: no value at all"]
    if len(value) > MOST_BYTES:
        return [f"{size(len(value))}, too long to compare here"]
    try:
        return value.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None


def _hex(value: bytes | None) -> list[str]:
    if value is None:
        return ["null: no value at all"]
    return [value[at : at + 16].hex(" ") for at in range(0, min(len(value), MOST_BYTES), 16)]


def header_lines(headers: Headers) -> bytes:
    """Ordered headers as text, one a line, so that they can be compared like a value."""
    rows = (f"{row.name}: {_header_value(row)}" for row in rows_of(headers))
    return "\n".join(rows).encode("utf-8", "backslashreplace")


def _header_value(row: Shown) -> str:
    return {"null": "null", "hex": f"0x{row.text}"}.get(row.form, row.text)
