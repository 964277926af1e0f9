"""The fields of one protobuf message, without its schema (protobuf.dev/programming-guides/encoding)."""

_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5
_LONGEST = 10
MOST = 1000
_WIDTH = {_I64: 8, _I32: 4}


def fields(message: bytes) -> dict[int, int | bytes] | None:
    """Field number → its last value: a varint as it is (unsigned), anything else as bytes.

    None where it is no message, or one of more than MOST fields.
    """
    found: dict[int, int | bytes] = {}
    at = 0
    for _ in range(MOST):
        if at >= len(message):
            return found
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if tag <= 0 or not number:
            return None
        if kind == _VARINT:
            value, at = _varint(message, at)
            if value < 0:
                return None
            found[number] = value
            continue
        size, at = _varint(message, at) if kind == _LEN else (_WIDTH.get(kind, -1), at)
        if size < 0 or at + size > len(message):
            return None
        found[number] = message[at : at + size]
        at += size
    return found if at >= len(message) else None


def text(value: int | bytes | None) -> str | None:
    """A field as text, what is no UTF-8 replaced; empty is unknown."""
    return value.decode("utf-8", "replace") or None if isinstance(value, bytes) else None


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number and where it ends; −1 where there is none of at most 64 bits."""
    number = 0
    for place, byte in enumerate(message[at : at + _LONGEST]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number, at + place + 1
    return -1, len(message)
