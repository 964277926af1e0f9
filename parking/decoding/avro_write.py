"""The JSON of `parking.decoding.avro` as Avro's binary encoding again."""

import base64
import binascii
import math
import struct
from decimal import Decimal
from typing import Any

from parking.decoding.avro_schema import Type
from parking.decoding.errors import NotWritable
from parking.decoding.pairs import Pairs, arrived

MOST_FIGURES = 4000
"""Of a decimal that is edited."""


def encode(document: Any, of: Type) -> bytes:
    """The bytes of a document as `parking.decoding.pairs` reads it. Raises NotWritable."""
    if of.kind == "bytes":
        return _bytes_of(document, of, "")
    out = bytearray()
    _encode(document, of, "", out)
    return bytes(out)


def _encode(document: Any, of: Type, path: str, out: bytearray) -> None:
    if of.kind == "record":
        _encode_record(document, of, path, out)
    elif of.kind == "union":
        _encode_union(document, of, path, out)
    elif of.kind == "array":
        rows = _is(document, list, "a list", path)
        out += zigzag(len(rows))  # the one block that everybody writes; its end is a block of none
        for at, row in enumerate(rows):
            _encode(row, _of(of), f"{path}/{at}", out)
        out += b"\0" if rows else b""
    elif of.kind == "map":
        pairs = _is(document, Pairs, "an object", path)
        out += zigzag(len(pairs))
        for name, inner in pairs:
            _encode_text(name, path, out)
            _encode(inner, _of(of), f"{path}/{name}", out)
        out += b"\0" if pairs else b""
    else:
        _encode_scalar(document, of, path, out)


def _of(of: Type) -> Type:
    assert of.of is not None
    return of.of


def _encode_record(document: Any, of: Type, path: str, out: bytearray) -> None:
    pairs = _is(document, Pairs, f"an object ({of.name})", path)
    given = dict(pairs)
    unknown = [name for name in given if name not in dict(of.fields)]
    if unknown or len(given) < len(pairs):
        twice = [name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at])]
        raise NotWritable(path, f"only what {of.name} has, once each", f"a member {(unknown or twice)[0]!r}")
    for name, inner in of.fields:
        if name not in given:
            raise NotWritable(path, f"a member {name!r}", "none")
        _encode(given[name], inner, f"{path}/{name}", out)


def _encode_union(document: Any, of: Type, path: str, out: bytearray) -> None:
    index = _branch(document, of)
    if index is None:
        wanted = " or ".join(branch.branch if of.plain else _named(branch) for branch in of.branches)
        raise NotWritable(path, wanted, arrived(document))
    branch = of.branches[index]
    out += zigzag(index)
    if of.plain or branch.kind == "null":
        _encode(document, branch, path, out)
    else:
        _encode(document[0][1], branch, f"{path}/{branch.branch}", out)


def _named(branch: Type) -> str:
    return "null" if branch.kind == "null" else f'{{"{branch.branch}": …}}'


def _branch(document: Any, of: Type) -> int | None:
    """The number of the branch that the document is meant for."""
    for at, branch in enumerate(of.branches):
        if document is None or branch.kind == "null":
            if document is None and branch.kind == "null":
                return at
        elif of.plain or (isinstance(document, Pairs) and len(document) == 1 and document[0][0] == branch.branch):
            return at
    return None


def _encode_scalar(document: Any, of: Type, path: str, out: bytearray) -> None:
    if of.kind == "null":
        if document is not None:
            raise NotWritable(path, "null", arrived(document))
    elif of.kind == "boolean":
        out.append(_is(document, bool, "true or false", path))
    elif of.kind in ("int", "long"):
        bits = 31 if of.kind == "int" else 63
        out += zigzag(_whole(document, -(2**bits), 2**bits - 1, path))
    elif of.kind in ("float", "double"):
        out += _float(document, "<f" if of.kind == "float" else "<d", path)
    elif of.kind == "string":
        _encode_text(_is(document, str, "a text", path), path, out)
    elif of.kind == "enum":
        symbol = _is(document, str, "one of the symbols", path)
        if symbol not in of.symbols:
            raise NotWritable(path, " or ".join(of.symbols)[:300], arrived(document))
        out += zigzag(of.symbols.index(symbol))
    else:
        content = _bytes_of(document, of, path)
        out += (b"" if of.kind == "fixed" else zigzag(len(content))) + content


def _encode_text(text: str, path: str, out: bytearray) -> None:
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotWritable(path, "a text of whole characters", "half of a character (a lone surrogate)") from None
    out += zigzag(len(encoded)) + encoded


def _is(document: Any, kind: type, expected: str, path: str) -> Any:
    if not isinstance(document, kind) or (isinstance(document, Pairs) and kind is list):
        raise NotWritable(path, expected, arrived(document))
    return document


def _whole(document: Any, least: int, most: int, path: str) -> int:
    number = document
    if isinstance(number, Decimal) and number.adjusted() < 20 and number == number.to_integral_value():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        raise NotWritable(path, f"a whole number from {least} to {most}", arrived(document))
    return number


def _float(document: Any, form: str, path: str) -> bytes:
    named = isinstance(document, str) and document in ("NaN", "Infinity", "-Infinity")
    try:
        if named or (isinstance(document, int | Decimal) and not isinstance(document, bool)):
            packed = struct.pack(form, float(document))
            if named or math.isfinite(float(document)):
                return packed
    except OverflowError:
        pass
    raise NotWritable(path, f"a number of {32 if form == '<f' else 64} bits", arrived(document))


def _bytes_of(document: Any, of: Type, path: str) -> bytes:
    if of.scale is not None:
        return _decimal_of(document, of, path)
    text = _is(document, str, "base64", path)
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NotWritable(path, "base64", arrived(document)) from None
    if of.kind == "fixed" and len(content) != of.size:
        raise NotWritable(path, f"base64 of {of.size} bytes", f"{len(content)} bytes")
    return content


def _decimal_of(document: Any, of: Type, path: str) -> bytes:
    assert of.scale is not None
    number = _is(document, int if isinstance(document, int) else Decimal, "a number", path)
    if isinstance(number, bool):
        raise NotWritable(path, "a number", arrived(document))
    sign, figures, exponent = Decimal(number).as_tuple()
    if not isinstance(exponent, int) or exponent < -of.scale or exponent + len(figures) > MOST_FIGURES:
        raise NotWritable(path, f"a number with at most {of.scale} decimal places", arrived(document))
    unscaled = int("".join(map(str, figures))) * 10 ** (exponent + of.scale) * (-1 if sign else 1)
    size = of.size if of.kind == "fixed" else (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    try:
        return int(unscaled).to_bytes(size, "big", signed=True)
    except OverflowError:
        raise NotWritable(path, f"a number that fits into {size} bytes", arrived(document)) from None


def zigzag(number: int) -> bytes:
    """A signed number of 64 bits as Avro writes it."""
    left = (number << 1) ^ (number >> 63)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)
