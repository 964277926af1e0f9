"""Ordered headers on one byte string: order, repeats and nulls are kept (columns `headers` and `raw_headers`)."""

from functools import lru_cache

from parking import fields
from parking.malformed import Malformed
from parking.record import Headers

SHORT = 64
_NULL = fields.pack([None])
_LENGTHS = [length.to_bytes(8, "big") for length in range(2048)]


def pack(headers: Headers) -> bytes:
    """Names and values in turn (`parking.fields`); names as UTF-8, half a surrogate pair included."""
    packed: list[bytes] = []
    for name, value in headers:
        written = _short_name(name) if len(name) < SHORT else _name(name)
        if value is None:
            packed += (written, _NULL)
        else:
            length = len(value)
            packed += (written, _LENGTHS[length] if length < 2048 else length.to_bytes(8, "big"), value)
    return b"".join(packed)


def unpack(packed: bytes | memoryview) -> Headers:
    """The headers that `pack` was given. Raises Malformed for other bytes."""
    parts = fields.unpack(bytes(packed))
    names, values = parts[::2], parts[1::2]
    if len(names) != len(values):
        raise Malformed("headers", "a value for each name", f"{len(names)} names, {len(values)} values")
    return tuple(zip(map(_unpacked_name, names), values, strict=True))


def _name(name: str) -> bytes:
    return fields.pack([name.encode("utf-8", "surrogatepass")])


_short_name = lru_cache(maxsize=4096)(_name)  # the same names come with every record; long ones are not worth the room


@lru_cache(maxsize=4096)
def _unpacked_name(name: bytes | None) -> str:
    if name is None:
        raise Malformed("headers", "a name", None)
    return name.decode("utf-8", "surrogatepass")
