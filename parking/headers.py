"""Ordered headers on one byte string: order, repeats and nulls are kept (columns `headers` and `raw_headers`)."""

from collections.abc import Sequence
from functools import lru_cache

from parking import fields
from parking.malformed import Malformed
from parking.record import Headers

SHORT = 64
_NULL, _LENGTHS = fields.NULL, fields.LENGTHS


def pack(headers: Headers) -> bytes:
    """Names and values in turn (`parking.fields`); names as UTF-8, half a surrogate pair included."""
    return pack_values(written([name for name, _ in headers]), headers)


def written(names: Sequence[str]) -> list[bytes]:
    """The names as `pack` writes them: the same come with every record."""
    return [_short_name(name) if len(name) < SHORT else _name(name) for name in names]


def pack_values(names: Sequence[bytes], headers: Headers) -> bytes:
    """As `pack` does, where the names are written already."""
    return b"".join(parts(names, headers))


def parts(names: Sequence[bytes], headers: Headers) -> list[bytes]:
    """What `pack_values` joins: three of each header."""
    found = [b""] * (3 * len(headers))
    found[::3] = names
    found[1::3] = [_NULL if value is None else _LENGTHS[len(value)] for _, value in headers]
    found[2::3] = [value or b"" for _, value in headers]
    return found


def unpack(packed: bytes | memoryview) -> Headers:
    """The headers that `pack` was given. Raises Malformed for other bytes."""
    parts = fields.unpack(bytes(packed))
    names, values = parts[::2], parts[1::2]
    if len(names) != len(values):
        raise Malformed("headers", "a value for each name", f"{len(names)} names, {len(values)} values")
    return tuple([(_unpacked(name), value) for name, value in zip(names, values, strict=True)])


def _name(name: str) -> bytes:
    return fields.pack([name.encode("utf-8", "surrogatepass")])


_short_name = lru_cache(maxsize=4096)(_name)  # the same names come with every record; long ones are not worth the room


def _unpacked(name: bytes | None) -> str:
    return _unpacked_name(name) if name is None or len(name) < SHORT else _unpacked_name.__wrapped__(name)


@lru_cache(maxsize=4096)
def _unpacked_name(name: bytes | None) -> str:
    if name is None:
        raise Malformed("headers", "a name", None)
    return name.decode("utf-8", "surrogatepass")
