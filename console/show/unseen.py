"""Characters that would not be seen, or would change how their neighbours are read, by name.

Everything from Kafka is somebody's text: a NUL, an escape sequence or a right-to-left override in it must be seen, not
obeyed (Unicode Technical Report 36, "Bidirectional Text Spoofing").
"""

import re
import unicodedata
from collections.abc import Iterator

_SHORT = {0: "NUL", 9: "TAB", 10: "LF", 13: "CR", 27: "ESC", 127: "DEL", 0xFEFF: "BOM", 0xFFFD: "U+FFFD"}
_CLASS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # soft hyphen, joiners and fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffd"  # zero width, bidi, separators
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff"  # half pairs, noncharacters, tags
)
_UNSEEN = re.compile(f"[{_CLASS}]")
_UNSEEN_IN_LINE = re.compile(f"[\t\n{_CLASS}]")


def runs(text: str, *, one_line: bool = False) -> Iterator[tuple[str, str]]:
    """The text in pieces (as written, ""), and between them each unseen character as (short name, full name).

    Tab and newline count as unseen only where the text has to stay on one line. What comes out has no lone surrogate
    and no NUL: it can be encoded as UTF-8 and stored anywhere.
    """
    at = 0
    for found in (_UNSEEN_IN_LINE if one_line else _UNSEEN).finditer(text):
        if found.start() > at:
            yield text[at : found.start()], ""
        yield short(found[0]), full(found[0])
        at = found.end()
    if at < len(text):
        yield text[at:], ""


def visible(text: str, *, one_line: bool = False) -> str:
    """The same as one plain text, unseen characters as ⟨NUL⟩: for places where there is no markup."""
    return "".join(f"⟨{piece}⟩" if name else piece for piece, name in runs(text, one_line=one_line))


def short(character: str) -> str:
    """`NUL`, `ESC`, `U+202E`."""
    return _SHORT.get(ord(character), f"U+{ord(character):04X}")


def full(character: str) -> str:
    """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
    name = unicodedata.name(character, "") or _kind(character)
    return f"U+{ord(character):04X} {name}".strip()


def _kind(character: str) -> str:
    return {"Cs": "half of a surrogate pair", "Cc": "control character"}.get(unicodedata.category(character), "")
