"""What PostgreSQL can hold of a text or a JSON value from outside: no NUL, no half surrogate pair, no NaN.

Only derived columns go through this; the exact bytes are kept apart. What could not be kept is a visible U+FFFD.
"""

import math
from typing import Any

from parking.attempt import whole

DEEPEST = 50
LARGEST_NUMBER = 10**1000
CUT = "… (cut)"


def text(value: str, longest: int | None = None) -> str:
    """The text without what cannot be stored, at most `longest` characters and a mark where it was cut."""
    if value.isascii() and "\0" not in value and (longest is None or len(value) <= longest):
        return value
    kept = value.replace("\0", "\ufffd") if "\0" in value else value
    kept = kept if kept.isascii() else whole(kept)
    return kept if longest is None or len(kept) <= longest else kept[:longest] + CUT


def json(value: Any, depth: int = 0) -> Any:
    """A JSON value that `jsonb` takes: texts as above, numbers it has no room for and what nests too deep as text."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool | None):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST_NUMBER else "a number of more than 1000 digits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= DEEPEST:
        return "… (nested too deep)"
    if isinstance(value, dict):
        return {text(str(name)): json(member, depth + 1) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [json(member, depth + 1) for member in value]
    return text(str(value))
