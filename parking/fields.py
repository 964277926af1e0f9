"""Fields on one byte string, unambiguous: each as an 8-byte big-endian length and its bytes, null as the length −1.

The encoding of fingerprints and signatures (DESIGN section 5) and of the records in a consumer's outbox.
"""

import struct
from collections.abc import Iterable

from parking.malformed import Malformed

_LENGTH = struct.Struct(">q")


def pack(fields: Iterable[bytes | None]) -> bytes:
    """The fields in order on one byte string; two different lists never give the same bytes."""
    return b"".join(_LENGTH.pack(-1) if field is None else _LENGTH.pack(len(field)) + field for field in fields)


def unpack(packed: bytes) -> list[bytes | None]:
    """The fields that `pack` was given. Raises Malformed where a length leads nowhere."""
    fields: list[bytes | None] = []
    at = 0
    while at < len(packed):
        if len(packed) - at < _LENGTH.size:
            raise Malformed(f"byte {at}", "an 8-byte length", packed[at:])
        (length,) = _LENGTH.unpack_from(packed, at)
        at += _LENGTH.size
        if length < -1 or length > len(packed) - at:
            raise Malformed(f"byte {at}", "as many bytes as the length says", length)
        fields.append(None if length == -1 else packed[at : at + length])
        at += max(length, 0)
    return fields
