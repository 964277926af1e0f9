"""What is special about a JSON text: what a reader might not see, and what other parsers would change or refuse."""

import json
import math
import re
from dataclasses import dataclass, field

from parking.json_member import values

PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
ESCAPE = re.compile(rf"{PAIR.pattern}|\\u[0-9a-fA-F]{{4}}|\\.")
DEEP = 40
LONG = 300
"""Digits; a double ends at 309."""
NAMED = 3


@dataclass(slots=True)
class Special:
    """`deepest` level; names that occur `twice` in one object; numbers that are `beyond` a double, or `long`."""

    deepest: int = 0
    twice: dict[str, None] = field(default_factory=dict)
    beyond: list[str] = field(default_factory=list)
    longest: int = 0


def look(text: str) -> Special:
    """Raises NotJson where the text is no JSON."""
    found = Special()
    names: list[set[str]] = []
    for depth, is_name, start, end in values(text):
        first = text[start]
        if is_name:
            while len(names) < depth:
                names.append(set())
            _name(text[start:end], names[depth - 1], found)
        elif first in "{[":
            del names[depth:]
            found.deepest = max(found.deepest, depth + 1)
        elif first in "-0123456789" and (end - start > 15 or "e" in text[start:end].lower()):
            _number(text[start:end], found)
    return found


def _name(written: str, names: set[str], found: Special) -> None:
    name = json.loads(written) if "\\" in written else written[1:-1]
    if name in names and len(found.twice) < NAMED:
        found.twice[name] = None
    names.add(name)


def _number(written: str, found: Special) -> None:
    found.longest = max(found.longest, sum(map(str.isdigit, re.split("[eE]", written)[0])))
    number = float(written)
    vanished = number == 0 and any(figure in "123456789" for figure in re.split("[eE]", written)[0])
    if (math.isinf(number) or vanished) and len(found.beyond) < NAMED:
        found.beyond.append(written)


def sentences(found: Special, text: str) -> list[str]:
    """What to say beside the value."""
    said = []
    if found.deepest > DEEP:
        said.append(f"Nested {found.deepest} deep; laid out to {DEEP}.")
    if found.twice:
        names = ", ".join(map(_short, found.twice))
        said.append(f"A name occurs more than once in one object ({names}): all are shown, most parsers keep the last.")
    if found.longest > LONG:
        said.append(f"Holds a number of {found.longest} digits: all are shown, many parsers refuse it or round it.")
    elif found.beyond:
        numbers = ", ".join(map(_short, found.beyond))
        said.append(f"Holds numbers beyond what a double can hold ({numbers}): shown as they are written.")
    halves = half_pairs(text)
    if halves:
        said.append(f"{halves} escapes are half of a character (a lone surrogate), which no text can hold.")
    if "\\u0000" in text and any(escape[0] == "\\u0000" for escape in ESCAPE.finditer(text)):
        said.append("Holds a NUL character, shown as \\u0000.")
    return said


def half_pairs(text: str) -> int:
    """How many escapes are half of a surrogate pair."""
    if "\\u" not in text:
        return 0
    escapes = (found[0] for found in ESCAPE.finditer(text))
    return sum(len(e) == 6 and e[2] in "dD" and e[3] in "89abAB" + "cdefCDEF" for e in escapes)


def _short(text: str) -> str:
    cut = text if len(text) <= 40 else text[:40] + "…"
    return cut.encode("utf-8", "backslashreplace").decode()
