"""The text of .proto files, against what protoc made of the same files (protoc/*.descriptors)."""

import base64
import re
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from parking.decoding import PROTOBUF, Schema, protobuf
from parking.decoding.errors import DoesNotFit
from parking.decoding.proto_known import TEXTS

PROTOC = Path(__file__).parent / "protoc"
MONEY = ("money.proto", (PROTOC / "money.proto").read_text())


def ours(text: str, *references: tuple[str, str]) -> FileDescriptorProto:
    found = FileDescriptorProto()
    protobuf._file(Schema(PROTOBUF, text, references)).CopyToProto(found)
    return found


def theirs(name: str) -> FileDescriptorProto:
    (file,) = FileDescriptorSet.FromString(base64.b64decode((PROTOC / f"{name}.descriptors").read_text())).file
    return file


def without_what_no_value_depends_on(file: FileDescriptorProto) -> str:
    file.name = "one of two"
    file.ClearField("options")
    del file.service[:], file.extension[:]
    for message in file.message_type:
        _message(message)
    for enum in file.enum_type:
        _enum(enum)
    return str(file)


def _message(message: DescriptorProto) -> None:
    for field in message.field:
        packed = [field.options.packed] if field.options.HasField("packed") else []
        for name in ("json_name", "default_value", "options"):
            field.ClearField(name)
        for given in packed:
            field.options.packed = given
    del message.extension_range[:], message.extension[:], message.reserved_range[:], message.reserved_name[:]
    if not message.options.map_entry:
        message.ClearField("options")
    for enum in message.enum_type:
        _enum(enum)
    for inner in message.nested_type:
        _message(inner)


def _enum(enum: EnumDescriptorProto) -> None:
    for value in enum.value:
        value.ClearField("options")


@pytest.mark.parametrize(("name", "references"), [("order", [MONEY]), ("two", [])])
def test_is_what_protoc_reads(name, references):
    mine = without_what_no_value_depends_on(ours((PROTOC / f"{name}.proto").read_text(), *references))
    assert mine.splitlines() == without_what_no_value_depends_on(theirs(name)).splitlines()
    assert mine.count("field {") > 8


def test_an_import_that_only_options_need_may_be_missing():
    text = 'syntax = "proto3"; import "confluent/meta.proto"; message M { int32 a = 1 [(confluent.field_meta) = {}]; }'
    (message,) = ours(text).message_type
    assert message.field[0].name == "a"


@pytest.mark.parametrize("name", TEXTS)
def test_what_everybody_imports_is_known(name):
    (declared,) = set(re.findall(r"(?:message|enum) (\w+) ", TEXTS[name])) - {"TimeZone"}
    package = name.rpartition("/")[0].replace("/", ".")
    found = protobuf.parse(
        Schema(PROTOBUF, f'import "{name}"; message M {{ optional {package}.{declared} a = 1; }}'), [0]
    )
    assert found.DESCRIPTOR.fields_by_name["a"].number == 1


def test_editions():
    text = 'edition = "2023"; message M { int32 a = 1; export message N { repeated int32 b = 1; } }'
    (message,) = ours(text).message_type
    assert message.nested_type[0].name == "N"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has none there"),
        ('syntax = "proto4";', "the schema's syntax 'proto4' is not known here"),
        ("message M {", "the schema ends too early"),
        ("message M { int32 a 1; }", "line 1 of the schema: = was expected, '1' stands there"),
        ("\n\nmessage M { int32 a = x; }", "line 3 of the schema: a number was expected"),
        ("message M { int32 a = 99999999999; }", "a number of 32 bits"),
        ("message M { Missing a = 1; }", "the schema is not sound"),
        ("message M { int32 a = 1; int32 b = 1; }", "the schema is not sound"),
        ("message M { " * 100 + "}" * 100, "nested deeper than 50"),
        ("message M { group G = 1 { " * 100 + "}" * 200, "nested deeper than 50"),
        ("mess\0age", "line 1 of the schema"),
        ("QUJDRA==", "neither the text of a .proto file nor a descriptor in base64"),
        ("<html>502 Bad Gateway</html>", "a declaration was expected"),
        ('import "/* never closed', "cannot be read"),
    ],
)
def test_a_text_that_is_no_schema(text, said):
    with pytest.raises(DoesNotFit) as error:
        protobuf.parse(Schema(PROTOBUF, text), [0])
    assert said in str(error.value)
