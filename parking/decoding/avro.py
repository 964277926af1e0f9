"""Avro's binary encoding as JSON text (Avro specification 1.12, "Binary Encoding").

A union of null and one other type stands there as its value; any other as `{"the branch": value}`, as in Avro's own
JSON. Bytes are in base64, decimals are numbers with every digit, moments are the numbers that they are. The way back
is `parking.decoding.avro_write`.
"""

from collections.abc import Callable
from typing import Any

from parking.decoding.avro_schema import Type
from parking.decoding.bytes_of import Bytes
from parking.decoding.errors import DoesNotFit
from parking.decoding.writer import Writer, digits

LARGEST_DECIMAL = 8 * 1024
"""Bytes of a decimal that are turned into digits."""


def write(value: bytes, at: int, of: Type, to: Writer) -> None:
    """The value from byte `at` on as JSON. Raises DoesNotFit, also where bytes are left."""
    if of.kind == "bytes":  # Confluent's serializers write bytes as the outermost type without their length
        _bytes(value[at:], of, to)
        return
    source = Bytes(value, at)
    _value(source, of, to)
    source.done()


def _value(source: Bytes, of: Type, to: Writer) -> None:
    if of.kind in _SIMPLE:
        _SIMPLE[of.kind](source, to)
    elif of.kind == "record":
        to.open("{")
        for name, inner in of.fields:
            to.name(name)
            _value(source, inner, to)
        to.close("}")
    elif of.kind == "union":
        _union(source, of, to)
    elif of.kind == "enum":
        to.text(_chosen(source.zigzag(), of.symbols, "symbols"))
    elif of.kind in ("array", "map"):
        _blocks(source, of, to)
    else:
        _bytes(source.take(of.size if of.kind == "fixed" else source.zigzag()), of, to)


def _boolean(source: Bytes, to: Writer) -> None:
    byte = source.byte()
    if byte > 1:
        raise DoesNotFit(f"byte {source.at} is 0x{byte:02x}, a boolean is 0 or 1")
    to.token("true" if byte else "false")


_SIMPLE: dict[str, Callable[[Bytes, Writer], None]] = {
    "null": lambda _, to: to.token("null"),
    "boolean": _boolean,
    "int": lambda source, to: to.integer(source.zigzag()),
    "long": lambda source, to: to.integer(source.zigzag()),
    "float": lambda source, to: to.single(source.number("<f")),
    "double": lambda source, to: to.double(source.number("<d")),
    "string": lambda source, to: to.text(source.text(source.zigzag())),
}


def _union(source: Bytes, of: Type, to: Writer) -> None:
    branch: Type = _chosen(source.zigzag(), of.branches, "branches")
    if of.plain or branch.kind == "null":
        _value(source, branch, to)
        return
    to.open("{")
    to.name(branch.branch)
    _value(source, branch, to)
    to.close("}")


def _chosen(index: int, among: list[Any], what: str) -> Any:
    if not 0 <= index < len(among):
        raise DoesNotFit(f"number {index} was chosen of {len(among)} {what}")
    return among[index]


def _blocks(source: Bytes, of: Type, to: Writer) -> None:
    assert of.of is not None
    to.open("[" if of.kind == "array" else "{")
    while count := source.zigzag():
        if count < 0:
            count = -count
            source.zigzag()  # the size of the block, for those who skip it
        for _ in range(count):
            if of.kind == "map":
                to.name(source.text(source.zigzag()))
            _value(source, of.of, to)
    to.close("]" if of.kind == "array" else "}")


def _bytes(content: bytes, of: Type, to: Writer) -> None:
    if of.scale is None or len(content) > LARGEST_DECIMAL:
        to.bytes(content)
    else:
        to.token(_decimal(int.from_bytes(content, "big", signed=True), of.scale))


def _decimal(unscaled: int, scale: int) -> str:
    text = digits(abs(unscaled)).rjust(scale + 1, "0")
    whole = f"{text[:-scale]}.{text[-scale:]}" if scale else text
    return f"-{whole}" if unscaled < 0 else whole
