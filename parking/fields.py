"""Fields on one byte string, unambiguous: each as an 8-byte big-endian length and its bytes, null as the length −1.

The encoding of fingerprints and signatures (DESIGN section 5) and of the records in a consumer's outbox.
"""

import struct
from collections.abc import Iterable

from parking.malformed import Malformed

_LENGTH = struct.Struct(">q")
_NULL = _LENGTH.pack(-1)


def pack(fields: Iterable[bytes | None]) -> bytes:
    """The fields in order on one byte string; two different lists never give the same bytes."""
    return b"".join([_NULL if field is None else _LENGTH.pack(len(field)) + field for field in fields])


def unpack(packed: bytes) -> list[bytes | None]:
    """The fields that `pack` was given. Raises Malformed where a length leads nowhere."""
    fields: list[bytes | None] = []
    at, end, length_at = 0, len(packed), _LENGTH.unpack_from
    while at + _LENGTH.size <= end:
        (length,) = length_at(packed, at)
        begin = at + _LENGTH.size
        at = begin + length if length > 0 else begin
        if at > end or length < -1:
            raise Malformed(f"byte {begin}", "as many bytes as the length says", length)
        fields.append(None if length == -1 else packed[begin:at])
    if at < end:
        raise Malformed(f"byte {at}", "an 8-byte length", packed[at:])
    return fields
