"""The headers of an event that are searched: its own names, and the values that are no stack traces. Pure.

What a producer said of the failure is in the error's type and message already. The headers of the events of a flow
have the same names in the same order, mostly: where the names are those of the event before, only the values that are
searched are taken out, and nothing is looked up.
"""

import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from parking import dialects, fields
from parking.malformed import Malformed

LONGEST_VALUE = 256 * 1024
LONGEST_NAMES = 4096
"""Bytes of packed names that are remembered."""
MOST_REMEMBERED = 1024
"""Kinds of events of which the names are remembered."""

_NO_TEXT = ("stacktrace", "stack_trace", "stack-trace")
_LENGTH = struct.Struct(">q")


@dataclass(slots=True)
class Names:
    """`names`: the event's own as one text; `steps`: each name as it is packed, with the size of that and of the length
    behind it, and whether the value is searched.
    """

    names: bytes
    steps: list[tuple[bytes, int, bool]]

    def texts(self, packed: bytes) -> list[bytes] | None:
        """The names and the values that are searched; None where the headers have other names."""
        found, at, length_at = [self.names], 0, _LENGTH.unpack_from
        for name, size, searched in self.steps:
            if not packed.startswith(name, at) or len(packed) < at + size:
                return None
            at += size
            (length,) = length_at(packed, at - _LENGTH.size)
            if length > 0:
                if searched:
                    found.append(packed[at : at + min(length, LONGEST_VALUE)])
                at += length
        return found if at == len(packed) else None


_latest: dict[Hashable, Names] = {}
_NONE = Names(b"", [])


def texts(packed: bytes, dialect: str, kind: Hashable) -> Sequence[bytes]:
    """Names and values of the packed headers of an event of this kind, as texts in UTF-8; none of malformed ones."""
    found = _latest.get(kind, _NONE).texts(packed)
    if found is not None:
        return found
    try:
        names = _read(packed, dialect)
    except (Malformed, UnicodeDecodeError):
        return ()
    if sum(size for _, size, _ in names.steps) <= LONGEST_NAMES:
        if len(_latest) >= MOST_REMEMBERED:
            _latest.clear()
        _latest[kind] = names
    return names.texts(packed) or ()


def _read(packed: bytes, dialect: str) -> Names:
    names = fields.unpack(packed)[::2]
    own = [name is not None and not dialects.added(dialect, _text(name)) for name in names]
    steps = []
    for name, is_own in zip(names, own, strict=True):
        written = fields.pack([name])
        searched = is_own and not _text(name or b"").lower().endswith(_NO_TEXT)
        steps.append((written, len(written) + _LENGTH.size, searched))
    return Names(b"\n".join([name for name, is_own in zip(names, own, strict=True) if name and is_own]), steps)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")
