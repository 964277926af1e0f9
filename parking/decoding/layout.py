"""A JSON text on lines of its own, every token as it was written but for escapes that can be read."""

import json
import re

from parking.decoding.special import DEEP, ESCAPE

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def laid_out(text: str) -> str:
    """The tokens on lines, indented by two. The text is JSON."""
    out: list[str] = []
    depth = 0
    previous = ""
    for token in _TOKEN.findall(text):
        if token in "}]":
            depth -= 1
            if previous not in ("{", "["):
                out.append(_line(depth))
        elif previous in ("{", "[", ","):
            out.append(_line(depth))
        out.append(": " if token == ":" else readable(token, half="\ufffd") if token[0] == '"' else token)
        if token in "{[":
            depth += 1
        previous = token
    return "".join(out)


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, DEEP)


def readable(string: str, *, half: str = "") -> str:
    """A JSON string with its characters instead of their escapes, where that can be read and means the same.

    Half of a pair stays as it is written, or becomes `half`.
    """
    return ESCAPE.sub(lambda escape: _character(escape[0], half), string) if "\\u" in string else string


def _character(written: str, half: str) -> str:
    if not written.startswith("\\u"):
        return written
    character = str(json.loads(f'"{written}"'))
    if len(character) == 1 and "\ud800" <= character <= "\udfff":
        return half or written
    return character if character.isprintable() and character not in '"\\' else written
