"""The JSON of `parking.decoding.protobuf` as a message again."""

import base64
import binascii
import math
import struct
from decimal import Decimal
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import EncodeError, Message

from parking.decoding.errors import NotWritable
from parking.decoding.pairs import Pairs, arrived
from parking.decoding.protobuf import is_map

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def encode(document: Any, of: type[Message]) -> bytes:
    """The bytes of a document as `parking.decoding.pairs` reads it, fields in the order of their numbers, maps sorted.

    Raises NotWritable.
    """
    message = of()
    _fill(message, document, "")
    try:
        return bytes(message.SerializeToString(deterministic=True))
    except (EncodeError, ValueError) as error:
        raise NotWritable("", "a whole message", " ".join(str(error).split())[:200]) from None


def _fill(message: Message, document: Any, path: str) -> None:
    of = cast("Descriptor", message.DESCRIPTOR)
    name = of.full_name
    if not isinstance(document, Pairs):
        raise NotWritable(path, f"an object ({name})", arrived(document))
    seen: set[str] = set()
    for member, value in document:
        field = of.fields_by_name.get(member)
        if field is None or member in seen:
            raise NotWritable(path, f"only what {name} has, once each", f"a member {member!r}")
        seen.add(member)
        chosen = field.containing_oneof
        if chosen is not None and message.WhichOneof(chosen.name):
            raise NotWritable(
                f"{path}/{member}", f"one member of {chosen.name}", f"{message.WhichOneof(chosen.name)} too"
            )
        _field(message, field, value, f"{path}/{member}")


def _field(message: Message, field: FieldDescriptor, value: Any, path: str) -> None:
    if is_map(field):
        _map(getattr(message, field.name), field, value, path)
    elif field.is_repeated:
        if not isinstance(value, list) or isinstance(value, Pairs):
            raise NotWritable(path, "a list", arrived(value))
        rows = getattr(message, field.name)
        for at, one in enumerate(value):
            if field.message_type:
                _fill(rows.add(), one, f"{path}/{at}")
            else:
                rows.append(_scalar(field, one, f"{path}/{at}"))
    elif field.message_type:
        inner = getattr(message, field.name)
        inner.SetInParent()
        _fill(inner, value, path)
    else:
        setattr(message, field.name, _scalar(field, value, path))


def _map(entries: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    if not isinstance(value, Pairs):
        raise NotWritable(path, "an object", arrived(value))
    assert field.message_type is not None
    kinds = field.message_type.fields_by_name
    for name, one in value:
        key = _key(kinds["key"], name, path)
        if key in entries:
            raise NotWritable(path, "each name once", f"{name!r} twice")
        if kinds["value"].message_type:
            _fill(entries[key], one, f"{path}/{name}")
        else:
            entries[key] = _scalar(kinds["value"], one, f"{path}/{name}")


def _key(field: FieldDescriptor, name: str, path: str) -> Any:
    """A name as the key that it stands for."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _scalar(field, name, path)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _scalar(field, {"true": True, "false": False}.get(name, name), path)
    return _scalar(field, int(name) if name.lstrip("-").isdecimal() and len(name) < 25 else name, path)


def _scalar(field: FieldDescriptor, value: Any, path: str) -> Any:
    if field.cpp_type in _RANGES:
        return _whole(value, *_RANGES[field.cpp_type], path)
    if field.enum_type:
        named = field.enum_type.values_by_name.get(value) if isinstance(value, str) else None
        return named.number if named else _whole(value, -(2**31), 2**31 - 1, path)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _is(value, bool, "true or false", path)
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return _float(value, "<f" if field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT else "<d", path)
    text = _is(value, str, "a text", path)
    try:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return base64.b64decode(text, validate=True)
        text.encode("utf-8")
    except (binascii.Error, ValueError):
        expected = "base64" if field.type == FieldDescriptor.TYPE_BYTES else "a text of whole characters"
        raise NotWritable(path, expected, arrived(value)) from None
    return text


def _is(value: Any, kind: type, expected: str, path: str) -> Any:
    if not isinstance(value, kind):
        raise NotWritable(path, expected, arrived(value))
    return value


def _whole(value: Any, least: int, most: int, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise NotWritable(path, f"a whole number from {least} to {most}", arrived(value))
    return value


def _float(value: Any, form: str, path: str) -> float:
    named = isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity")
    try:
        if named or (isinstance(value, int | Decimal) and not isinstance(value, bool)):
            struct.pack(form, float(value))
            if named or math.isfinite(float(value)):
                return float(value)
    except OverflowError:
        pass
    raise NotWritable(path, f"a number of {32 if form == '<f' else 64} bits", arrived(value))
