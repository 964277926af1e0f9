"""Ordered headers on one byte string: order, repeats and nulls are kept (columns `headers` and `raw_headers`)."""

from parking import fields
from parking.malformed import Malformed
from parking.record import Headers


def pack(headers: Headers) -> bytes:
    """Names and values in turn (`parking.fields`); names as UTF-8, half a surrogate pair included."""
    return fields.pack(part for name, value in headers for part in (name.encode("utf-8", "surrogatepass"), value))


def unpack(packed: bytes | memoryview) -> Headers:
    """The headers that `pack` was given. Raises Malformed for other bytes."""
    parts = fields.unpack(bytes(packed))
    names, values = parts[::2], parts[1::2]
    if len(names) != len(values):
        raise Malformed("headers", "a value for each name", f"{len(names)} names, {len(values)} values")
    return tuple((_name(name), value) for name, value in zip(names, values, strict=True))


def _name(name: bytes | None) -> str:
    if name is None:
        raise Malformed("headers", "a name", None)
    return name.decode("utf-8", "surrogatepass")
