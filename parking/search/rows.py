"""Rows as PostgreSQL reads them in a binary COPY (PostgreSQL, COPY, "Binary Format"): nothing has to be parsed there.

Each value is what its type's `send` function writes; no value is null.
"""

import struct

from parking.search.numbers import ELEMENT

BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END = b"\xff\xff"

_BIGINT = 20
"""The type's OID, which arrays carry."""
_LENGTH = struct.Struct("!i")
_FIELDS = struct.Struct("!h")
_ARRAY = struct.Struct("!5i")
_NO_ELEMENTS = struct.pack("!3i", 0, 0, _BIGINT)

bigint = struct.Struct("!q").pack
integer = struct.Struct("!i").pack
boolean = struct.Struct("!?").pack


def bigints(elements: bytes) -> bytes:
    """A `bigint[]` of elements as `numbers` makes them, one after the other."""
    return _ARRAY.pack(1, 0, _BIGINT, len(elements) // ELEMENT, 1) + elements if elements else _NO_ELEMENTS


def row(*values: bytes) -> bytes:
    """One row of these values."""
    return _FIELDS.pack(len(values)) + b"".join(
        [part for value in values for part in (_LENGTH.pack(len(value)), value)]
    )
