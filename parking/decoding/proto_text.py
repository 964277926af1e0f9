"""The text of a .proto file as the descriptor that Protobuf's own library works with.

Registries hand out the text, and the compiler that reads it is no Python. What no value on the wire depends on is
skipped: options (but for `packed`), services, extensions, reserved numbers, comments
(protobuf.dev, "Protocol Buffers Language Specification", proto2, proto3 and editions).
"""

import re
from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from parking.decoding.errors import DoesNotFit

DEEPEST = 50
_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|[0-9][0-9A-Za-z_.+]*)"
    r"|(?P<mark>[{}\[\]()<>=;:,\-+./])",
    re.DOTALL,
)
_LABELS = {"optional": 1, "required": 2, "repeated": 3}
_SCALARS = {
    name: FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
}
_SKIPPED = frozenset(("option", "reserved", "extensions", "service", "extend"))


def parse(text: str, name: str) -> FileDescriptorProto:
    """The descriptor of the file, to be known by `name`. Raises DoesNotFit where the text is none that this reads."""
    return _Parser(text).file(name)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise DoesNotFit(f"line {_line(text, at)} of the schema cannot be read")
        if found.lastgroup:
            yield found[0], at
        at = found.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class _Parser:
    """One token after the other; every method reads what its name says."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._proto3 = False

    def file(self, name: str) -> FileDescriptorProto:
        file = FileDescriptorProto(name=name, syntax="proto2")
        while self._at < len(self._tokens):
            word = self._next()
            if word in ("syntax", "edition"):
                self._syntax(file, word)
            elif word == "package":
                file.package = self._next()
                self._expect(";")
            elif word == "import":
                self._import(file)
            elif word == "message":
                self._message(file.message_type.add(), 0)
            elif word == "enum":
                self._enum(file.enum_type.add())
            elif word not in (";", "export", "local"):
                self._skip(word)
        return file

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise DoesNotFit("the schema ends too early")
        self._at += 1
        return self._tokens[self._at - 1][0]

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise self._wrong(f"{token} was expected")

    def _wrong(self, what: str) -> DoesNotFit:
        token, at = self._tokens[self._at - 1]
        return DoesNotFit(f"line {_line(self._text, at)} of the schema: {what}, {token[:50]!r} stands there")

    def _syntax(self, file: FileDescriptorProto, word: str) -> None:
        self._expect("=")
        given = self._next()[1:-1]
        self._expect(";")
        self._proto3 = given == "proto3"
        if word == "syntax" and given in ("proto2", "proto3"):
            file.syntax = given
        elif word == "edition" and f"EDITION_{given}" in Edition.keys():  # noqa: SIM118 - no mapping
            file.syntax, file.edition = "editions", Edition.Value(f"EDITION_{given}")
        else:
            raise DoesNotFit(f"the schema's {word} {given[:50]!r} is not known here")

    def _import(self, file: FileDescriptorProto) -> None:
        is_public = self._take("public")
        if not is_public:
            self._take("weak")
        if is_public:
            file.public_dependency.append(len(file.dependency))
        file.dependency.append(self._next()[1:-1])
        self._expect(";")

    def _message(self, message: DescriptorProto, depth: int) -> None:
        message.name = self._next()
        self._body(message, depth)

    def _body(self, message: DescriptorProto, depth: int) -> None:
        if depth > DEEPEST:
            raise DoesNotFit(f"the schema is nested deeper than {DEEPEST}")
        self._expect("{")
        while not self._take("}"):
            word = self._next()
            if word == "message" and self._opens():
                self._message(message.nested_type.add(), depth + 1)
            elif word == "enum" and self._opens():
                self._enum(message.enum_type.add())
            elif word == "oneof" and self._opens():
                self._oneof(message, depth)
            elif word in _SKIPPED:
                self._skip(word)
            elif word not in (";", "export", "local"):
                self._field(message, word, depth)
        self._optional_ones(message)

    def _opens(self) -> bool:
        """Whether `word Name {` follows, not a field whose type has the name of a keyword."""
        return [token for token, _ in self._tokens[self._at + 1 : self._at + 2]] == ["{"]

    def _oneof(self, message: DescriptorProto, depth: int) -> None:
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=self._next())
        self._expect("{")
        while not self._take("}"):
            word = self._next()
            if word == "option":
                self._skip(word)
            elif word != ";":
                self._field(message, word, depth)
                message.field[-1].oneof_index = index

    def _field(self, message: DescriptorProto, word: str, depth: int) -> None:
        label = _LABELS.get(word)
        kind = self._next() if label else word
        field = message.field.add(label=label or 1)
        if kind == "map" and self._take("<"):
            self._map(message, field)
        elif kind == "group":
            self._group(message, field, depth)
            return
        else:
            self._kind(field, kind)
            field.name = self._next()
        self._expect("=")
        field.number = self._number()
        self._options(field)
        self._expect(";")
        if word == "optional" and self._proto3:
            field.proto3_optional = True

    def _kind(self, field: FieldDescriptorProto, kind: str) -> None:
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        elif re.fullmatch(r"\.?[A-Za-z_][\w.]*", kind):
            field.type_name = kind  # message or enum: the pool finds out which
        else:
            raise self._wrong("a type was expected")

    def _map(self, message: DescriptorProto, field: FieldDescriptorProto) -> None:
        key = self._next()
        self._expect(",")
        value = self._next()
        self._expect(">")
        field.name = self._next()
        name = "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
        entry = message.nested_type.add(name=name)
        entry.options.map_entry = True
        for number, (inner, kind) in enumerate((("key", key), ("value", value)), start=1):
            self._kind(entry.field.add(name=inner, number=number, label=_LABELS["optional"]), kind)
        field.label, field.type, field.type_name = (
            FieldDescriptorProto.LABEL_REPEATED,
            FieldDescriptorProto.TYPE_MESSAGE,
            name,
        )

    def _group(self, message: DescriptorProto, field: FieldDescriptorProto, depth: int) -> None:
        name = self._next()
        field.name, field.type, field.type_name = name.lower(), FieldDescriptorProto.TYPE_GROUP, name
        self._expect("=")
        field.number = self._number()
        self._options(field)
        self._body(message.nested_type.add(name=name), depth + 1)

    def _options(self, field: FieldDescriptorProto) -> None:
        """What stands in brackets after a field; only `packed` changes what its bytes are."""
        if not self._take("["):
            return
        opened = ["["]
        while opened:
            word = self._next()
            if word in "[{(<":
                opened.append(word)
            elif word in "]})>":
                opened.pop()
            elif word == "packed" and len(opened) == 1 and self._take("="):
                field.options.packed = self._next() == "true"

    def _number(self) -> int:
        negative = self._take("-")
        word = self._next()
        try:
            number = int(word, 8) if re.fullmatch(r"0[0-7]+", word) else int(word, 0)
        except ValueError:
            raise self._wrong("a number was expected") from None
        if number >= 2**31 + negative:
            raise self._wrong("a number of 32 bits was expected")
        return -number if negative else number

    def _enum(self, enum: EnumDescriptorProto) -> None:
        enum.name = self._next()
        self._expect("{")
        while not self._take("}"):
            word = self._next()
            if word in ("option", "reserved") and self._peek() != "=":
                self._skip(word)
            elif word != ";":
                self._expect("=")
                enum.value.add(name=word, number=self._number())
                self._options(FieldDescriptorProto())
                self._expect(";")
        if len({value.number for value in enum.value}) < len(enum.value):
            enum.options.allow_alias = True

    def _skip(self, word: str) -> None:
        """A statement: up to its semicolon, or over its braces."""
        if word not in _SKIPPED:
            raise self._wrong("a declaration was expected")
        depth = 0
        while True:
            token = self._next()
            depth += (token == "{") - (token == "}")
            if depth == 0 and token == "}" and word != "option":
                return
            if depth == 0 and token == ";":
                return

    def _optional_ones(self, message: DescriptorProto) -> None:
        """proto3's `optional` is a choice of one, which descriptors spell out."""
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
