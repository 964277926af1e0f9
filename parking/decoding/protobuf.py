"""Protobuf messages as JSON text by the descriptors of a schema, and that JSON as bytes again.

Members have the names of the .proto file, integers of 64 bits are numbers with every digit, bytes are in base64. What
is on the wire is shown, nothing else: a field without presence whose value is zero is not. A field that the schema does
not know is shown under its number.
"""

import base64
import importlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pool, message_factory, unknown_fields
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError, Message

from parking.decoding import proto_text
from parking.decoding.errors import DoesNotFit
from parking.decoding.proto_known import TEXTS
from parking.decoding.schema import Schema
from parking.decoding.writer import Writer

LARGEST = 2_000_000
"""Bytes of a message; the library builds all of it before anything can be shown."""
UNKNOWN = "Fields that the schema does not know are shown under their numbers."
ENUM_NUMBER = "A choice that the schema does not name is shown as its number."
_OURS = frozenset(
    f"google/protobuf/{name}.proto"
    for name in (
        *("any", "api", "descriptor", "duration", "empty", "field_mask"),
        *("source_context", "struct", "timestamp", "type", "wrappers"),
    )
)
_KINDS = FieldDescriptor
_BASE64 = re.compile(r"[A-Za-z0-9+/]{4,}={0,2}")


def parse(schema: Schema, indexes: Sequence[int]) -> type[Message]:
    """The class of the message at these indexes: of the file, then of what is nested in it. Raises DoesNotFit."""
    found: Descriptor | None = None
    try:
        for index in indexes:
            among = list(
                (_file(schema).message_types_by_name if found is None else found.nested_types_by_name).values()
            )
            found = among[index]
    except IndexError:
        path = ", ".join(map(str, indexes))
        raise DoesNotFit(f"the value is message {path} of the schema, which has none there") from None
    assert found is not None
    return message_factory.GetMessageClass(found)


@lru_cache(maxsize=64)
def _file(schema: Schema) -> FileDescriptor:
    files = [_described(text, name) for name, text in schema.references]
    files.append(_described(schema.text, "the value's schema"))
    held = {file.name for file in files}
    imported = sorted({name for file in files for name in file.dependency if name in TEXTS} - held)
    files = [proto_text.parse(TEXTS[name], name) for name in imported] + files
    pool = descriptor_pool.DescriptorPool()
    known = {file.name for file in files}
    try:
        for name in sorted({name for file in files for name in file.dependency if name in _OURS - known}):
            _add_ours(pool, name)
        for file in files:
            _only_known(file, known | _OURS)
            pool.AddSerializedFile(file.SerializeToString())
        return pool.FindFileByName(files[-1].name)
    except (TypeError, KeyError, ValueError) as error:
        raise DoesNotFit(f"the schema is not sound: {_short(error)}") from None


def _described(text: str, name: str) -> FileDescriptorProto:
    """The file's descriptor: of its text, or of itself in base64, as some clients register it. Raises DoesNotFit."""
    if not _BASE64.fullmatch(text):
        return proto_text.parse(text, name)
    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (DecodeError, ValueError):
        raise DoesNotFit("the schema is neither the text of a .proto file nor a descriptor in base64") from None
    file.name = name
    return file


def _add_ours(pool: descriptor_pool.DescriptorPool, name: str) -> None:
    """One of the files that come with Protobuf, and those that it needs."""
    module = importlib.import_module(f"google.protobuf.{name.removeprefix('google/protobuf/')[:-6]}_pb2")
    file = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    for needed in file.dependency:
        _add_ours(pool, needed)
    pool.AddSerializedFile(file.SerializeToString())


def _only_known(file: FileDescriptorProto, known: Iterable[str]) -> None:
    """Without imports that nobody has: they may be there for options only, which no value depends on."""
    names = list(file.dependency)
    public = {names[index] for index in file.public_dependency}
    kept = [name for name in dict.fromkeys(names) if name in known]
    del file.dependency[:], file.public_dependency[:]
    file.dependency.extend(kept)
    file.public_dependency.extend(index for index, name in enumerate(kept) if name in public)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def read(value: bytes, at: int, of: type[Message]) -> Message:
    """The message from byte `at` on. Raises DoesNotFit."""
    if len(value) > LARGEST:
        raise DoesNotFit(f"it is longer than {LARGEST // 1_000_000} MB")
    message = of()
    try:
        message.ParseFromString(value[at:])
    except DecodeError as error:
        raise DoesNotFit(f"it is no {of.DESCRIPTOR.full_name} ({_short(error)})") from None
    return message


def write(message: Message, to: Writer) -> None:
    """The fields that are set, in the order of their numbers, as an object."""
    to.open("{")
    for field, value in message.ListFields():
        to.name(f"[{field.full_name}]" if field.is_extension else field.name)
        _field(field, value, to)
    _unknown(unknown_fields.UnknownFieldSet(message), to)
    to.close("}")


def _field(field: FieldDescriptor, value: Any, to: Writer) -> None:
    if is_map(field):
        _map(field, value, to)
    elif field.is_repeated:
        to.open("[")
        for one in value:
            _one(field, one, to)
        to.close("]")
    else:
        _one(field, value, to)


def is_map(field: FieldDescriptor) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _map(field: FieldDescriptor, entries: Any, to: Writer) -> None:
    assert field.message_type is not None
    value = field.message_type.fields_by_name["value"]
    to.open("{")
    for key in sorted(entries):
        to.name(str(key).lower() if isinstance(key, bool) else str(key))
        _one(value, entries[key], to)
    to.close("}")


def _one(field: FieldDescriptor, value: Any, to: Writer) -> None:
    if field.message_type:
        write(value, to)
    elif field.enum_type:
        named = field.enum_type.values_by_number.get(value)
        if named is None:
            to.notes[ENUM_NUMBER] = None
            to.integer(value)
        else:
            to.text(named.name)
    elif isinstance(value, bool):
        to.token("true" if value else "false")
    elif isinstance(value, int):
        to.integer(value)
    elif isinstance(value, float):
        (to.single if field.type == _KINDS.TYPE_FLOAT else to.double)(value)
    elif isinstance(value, bytes):
        to.bytes(value)
    else:
        to.text(value)


def _unknown(fields: Any, to: Writer) -> None:
    for field in fields:
        to.notes[UNKNOWN] = None
        to.name(str(field.field_number))
        if isinstance(field.data, bytes):
            to.bytes(field.data)
        elif isinstance(field.data, int):
            to.integer(field.data)
        else:
            to.open("{")
            _unknown(field.data, to)
            to.close("}")
