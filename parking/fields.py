"""Fields on one byte string, unambiguous: each as an 8-byte big-endian length and its bytes, null as the length −1.

The encoding of fingerprints and signatures (DESIGN section 5) and of the records in a consumer's outbox.
"""

import struct
from collections.abc import Iterable

from parking.malformed import Malformed

_LENGTH = struct.Struct(">q")
NULL = _LENGTH.pack(-1)
"""What is written for a field that is null."""


class _Lengths(dict[int, bytes]):
    """A length as it is written; those of most fields are kept."""

    def __missing__(self, length: int) -> bytes:
        return _LENGTH.pack(length)


LENGTHS = _Lengths((length, _LENGTH.pack(length)) for length in range(2048))


def pack(fields: Iterable[bytes | None], behind: bytes = b"") -> bytes:
    """The fields in order on one byte string; two different lists never give the same bytes. `behind` are fields that
    are packed already.
    """
    parts: list[bytes] = []
    for field in fields:
        if field is None:
            parts.append(NULL)
        else:
            parts += (LENGTHS[len(field)], field)
    parts.append(behind)
    return b"".join(parts)


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
