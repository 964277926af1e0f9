"""JSON text, written token by token and bounded: what decoders of binary formats write into.

A few bytes can stand for billions of values (lengths that lie, schemas that contain themselves, arrays of nothing). So
every value, every character and every level is counted here, for all formats alike.
"""

import base64
import json
import math
import struct
from collections.abc import Callable

from parking.decoding.errors import DoesNotFit, Full

MOST_VALUES = 50_000
MOST_CHARACTERS = 2_000_000
MOST_READ = 200_000
"""Values that are read to find out whether bytes fit to their end."""
DEEPEST = 100

CUT = f"Only the beginning is shown: the first {MOST_VALUES} values or 2 MB of them."
BASE64 = "Bytes that are no text are shown in base64."
NO_NUMBER = "NaN and infinities are shown as texts: JSON has no such numbers."
NO_TEXT_NAME = "Names of members that are no texts are shown as the JSON of what they are."


class Writer:
    """The tokens of one document, with commas where they belong. `notes` are sentences on what JSON cannot say.

    Where that is enough it raises Full; with `to_the_end` it goes on for a while, so that the reader finds out whether
    the bytes fit to their end, and what is written is the beginning only: then it is not `whole`.
    """

    def __init__(self, *, to_the_end: bool = False) -> None:
        self.whole = True
        self._to_the_end = to_the_end
        self.notes: dict[str, None] = {}
        self.texts = 0
        """Texts of at least one character that were written, names included."""
        self.odd_names = False
        """Whether a name of the outermost object is no text."""
        self._out: list[str] = []
        self._depth = 0
        self._comma = False
        self._values = 0
        self._characters = 0

    @property
    def document(self) -> str:
        return "".join(self._out)

    def open(self, mark: str) -> None:
        """`{` or `[`. Raises DoesNotFit where it is too deep."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise DoesNotFit(f"nested deeper than {DEEPEST}")
        self.token(mark)
        self._comma = False

    def close(self, mark: str) -> None:
        self._depth -= 1
        self._put(mark)
        self._comma = True

    def name(self, text: str) -> None:
        self.texts += bool(text)
        self.token(_quoted(text))
        self._put(":")
        self._comma = False

    def name_of(self, write: Callable[["Writer"], None]) -> None:
        """A name that is no text: the JSON of what `write` writes."""
        inner = Writer(to_the_end=self._to_the_end)
        inner._depth, inner._values, inner._characters = self._depth, self._values, self._characters
        inner.open("[")  # it counts as a level, or names within names would have no end
        inner._out.clear()
        inner._comma = False
        write(inner)
        self._values, self._characters, self.whole = inner._values, inner._characters, self.whole and inner.whole
        self.notes |= {**inner.notes, NO_TEXT_NAME: None}
        self.odd_names = self.odd_names or self._depth == 1
        self.texts -= 1
        self.name(inner.document)

    def token(self, text: str) -> None:
        """A number or literal as it is to stand there. Raises Full where that is enough."""
        self._values += 1
        self._characters += len(text)
        if self._values > MOST_VALUES or self._characters > MOST_CHARACTERS:
            self.whole = False
            if not self._to_the_end or self._values > MOST_READ:
                raise Full
        if self._comma:
            self._put(",")
        self._put(text)
        self._comma = True

    def _put(self, text: str) -> None:
        if self.whole:
            self._out.append(text)

    def text(self, text: str) -> None:
        self.texts += bool(text)
        self.token(_quoted(text))

    def integer(self, number: int) -> None:
        self.token(digits(number))

    def bytes(self, value: bytes) -> None:
        self.notes[BASE64] = None
        self.token(f'"{base64.b64encode(value).decode()}"')

    def double(self, number: float) -> None:
        self._float(number, repr(number))

    def single(self, number: float) -> None:
        """A number of 32 bits, in as few digits as mean just this one."""
        self._float(number, shortest(number))

    def _float(self, number: float, text: str) -> None:
        if math.isfinite(number):
            self.token(text)
            return
        self.notes[NO_NUMBER] = None
        self.token('"NaN"' if math.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"')


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def digits(number: int) -> str:
    """Every digit of an integer of any size; `str` stops at 4300."""
    if number.bit_length() < 13_000:
        return str(number)
    if number < 0:
        return "-" + digits(-number)
    half = int(number.bit_length() * 0.30103) // 2
    high, low = divmod(number, 10**half)
    return digits(high) + _padded(low, half)


def _padded(number: int, width: int) -> str:
    return digits(number).rjust(width, "0")


def shortest(number: float) -> str:
    """The shortest decimal that reads as the same 32-bit number."""
    if not math.isfinite(number):
        return repr(number)
    for places in range(6, 10):
        text = f"{number:.{places}g}"
        try:
            if struct.pack(">f", float(text)) == struct.pack(">f", number):
                return repr(float(text))
        except OverflowError:  # rounded up to beyond the largest one
            continue
    return repr(number)
