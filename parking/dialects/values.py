"""Header values by their exact type (dlq formats, rule 2): what has the wrong length or is no number is unknown.

Headers are an ordered multimap: which of them is meant says `family.Found`. A null value is unknown, never an
exception.
"""

from struct import Struct

from parking.record import INT64, Headers

_INT32, _INT64 = Struct(">i"), Struct(">q")


def first(headers: Headers, name: str) -> bytes | None:
    for header, value in headers:
        if header == name:
            return value
    return None


def text(value: bytes | None) -> str | None:
    """UTF-8, what is none replaced; empty is unknown."""
    return value.decode("utf-8", "replace") or None if value else None


def int32(value: bytes | None) -> int | None:
    """Big-endian, 4 bytes; a negative number is unknown."""
    return _known(_INT32.unpack(value)[0]) if value is not None and len(value) == 4 else None


def int64(value: bytes | None) -> int | None:
    """Big-endian, 8 bytes; a negative number is unknown."""
    return _known(_INT64.unpack(value)[0]) if value is not None and len(value) == 8 else None


def integer(value: bytes | None) -> int | None:
    """Big-endian two's complement of 1 to 8 bytes (Java's BigInteger is as short as it can be)."""
    return _known(int.from_bytes(value, "big", signed=True)) if value and len(value) <= 8 else None


def decimal(value: bytes | None) -> int | None:
    """ASCII digits; anything else, and what needs more than 64 bits, is unknown."""
    if not value or len(value) > 19 or not value.isdigit():
        return None
    number = int(value)
    return number if number < INT64 else None


def _known(number: int) -> int | None:
    return number if number >= 0 else None
