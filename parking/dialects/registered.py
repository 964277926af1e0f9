"""Values behind `00` and a schema's id, of Avro records whose schema is known here: no registry is asked.

Avro writes the fields one after the other, so a value is such a record if each field has its type and none is left.
"""

from collections.abc import Callable, Mapping
from typing import Any

from parking.decoding.bytes_of import Bytes
from parking.decoding.errors import DoesNotFit

_FRAME = 5
"""Confluent's wire format: a zero and the id in four bytes."""

Fields = Mapping[str, str]
"""Name → `text`, `bytes`, `number` (int or long), each with a `?` in front where null is its other branch."""


def read(value: bytes | None, *versions: Fields) -> dict[str, Any] | None:
    """The fields of the first version that fits; None if none does. Bytes that are given as `bytes` stay bytes."""
    if value is None or len(value) <= _FRAME or value[0] != 0:
        return None
    return next((told for fields in versions if (told := _read(value, fields)) is not None), None)


def known(number: int | None, most: int = 2**63 - 1) -> int | None:
    """The number, where it can be one: −1 is unknown."""
    return number if number is not None and 0 <= number <= most else None


def _read(value: bytes, fields: Fields) -> dict[str, Any] | None:
    source = Bytes(value, _FRAME)
    try:
        told = {name: _field(source, kind) for name, kind in fields.items()}
        source.done()
    except DoesNotFit:
        return None
    return told


def _field(source: Bytes, kind: str) -> Any:
    if kind[0] != "?":
        return _TYPES[kind](source)
    branch = source.zigzag()
    if branch not in (0, 1):
        raise DoesNotFit("a union of null and one type has no third branch")
    return _TYPES[kind[1:]](source) if branch else None


_TYPES: Mapping[str, Callable[[Bytes], Any]] = {
    "text": lambda source: source.text(source.zigzag()),
    "bytes": lambda source: source.take(source.zigzag()),
    "number": lambda source: source.zigzag(),
}
