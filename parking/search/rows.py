"""Rows as PostgreSQL reads them in a binary COPY (PostgreSQL, COPY, "Binary Format"): nothing has to be parsed there.

Each value is what its type's `send` function writes; no value is null.
"""

import struct

from parking.search.numbers import ELEMENT

BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END = b"\xff\xff"

_BIGINT = 20
"""The type's OID, which arrays carry."""
_ARRAY = 20
"""Bytes of the head of an array: dimensions, whether it has nulls, type, length, first index."""

_first = struct.Struct("!hiqi8siqi").pack
_length = struct.Struct("!i").pack
_words = struct.Struct("!6i").pack
_last = struct.Struct("!iii?").pack


def entry(
    ident: int, stored_at: bytes, flow: int, event_id: bytes, key: bytes, *, words: bytes, opened: int, cut: bool
) -> bytes:
    """A row of `EventSearch`, its columns in this order. `words` are elements as `numbers` makes them, at least one;
    `stored_at` is as PostgreSQL sends it.
    """
    return b"".join((
        _first(8, 8, ident, 8, stored_at, 8, flow, len(event_id)), event_id,
        _length(len(key)), key,
        _words(_ARRAY + len(words), 1, 0, _BIGINT, len(words) // ELEMENT, 1), words,
        _last(4, opened, 1, cut),
    ))  # fmt: skip
