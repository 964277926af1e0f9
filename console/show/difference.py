"""What an amendment changes, line by line: JSON in its lines, so that a moved brace is not a change; else the text."""

from collections import Counter
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
MOST_STEPS = 10_000_000
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
    blocks = _blocks(left, right)
    for at, (tag, i1, i2, j1, j2) in enumerate(blocks):
        if tag == "equal":
            yield from _same(left[i1:i2], first=at == 0, last=at == len(blocks) - 1)
        else:
            yield from _block(left[i1:i2], right[j1:j2])


Block = tuple[str, int, int, int, int]


def _blocks(left: list[str], right: list[str]) -> list[Block]:
    """As SequenceMatcher.get_opcodes, in bounded time: what is equal at both ends is not searched, and a line that
    recurs too often is not looked for, only found beside others. A list of a thousand equal values takes no second."""
    head = _equal_at_the_beginning(left, right)
    tail = _equal_at_the_beginning(left[head:][::-1], right[head:][::-1])
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    counts, often = Counter(b), MOST_STEPS // max(1, len(a)) ** 2
    inner = SequenceMatcher(lambda line: counts[line] > often, a, b, autojunk=False).get_opcodes()
    blocks: list[Block] = [("equal", 0, head, 0, head)] if head else []
    blocks += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in inner]
    if tail:
        blocks.append(("equal", len(left) - tail, len(left), len(right) - tail, len(right)))
    return blocks


def _equal_at_the_beginning(left: list[str], right: list[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def _same(lines: list[str], *, first: bool, last: bool) -> Iterator[Row]:
    """Lines around a change are shown; away from any, a few are shown and many are counted."""
    head, tail = 0 if first else AROUND, 0 if last else AROUND
    apart = len(lines) - head - tail
    if apart <= AROUND:
        yield from (Row("same", line, line) for line in lines)
        return
    yield from (Row("same", line, line) for line in lines[:head])
    yield Row("apart", f"{apart} lines unchanged")
    yield from (Row("same", line, line) for line in lines[len(lines) - tail :])


def _block(left: list[str], right: list[str]) -> Iterator[Row]:
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
