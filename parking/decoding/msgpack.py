"""MessagePack as JSON text (github.com/msgpack/msgpack, spec.md). Nothing is built, so repeated names stay."""

from datetime import UTC, datetime, timedelta

from parking.decoding.bytes_of import Bytes
from parking.decoding.errors import DoesNotFit
from parking.decoding.writer import Writer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LITERALS = {0xC0: "null", 0xC2: "false", 0xC3: "true"}
_BINARY = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_EXTENSION = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED_EXTENSION = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_INTEGER = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_TEXT = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_ARRAY = {0xDC: 2, 0xDD: 4}
_MAP = {0xDE: 2, 0xDF: 4}


def write(value: bytes, to: Writer) -> None:
    """The whole value as JSON. Raises DoesNotFit, also where bytes are left or the outermost is no array or map."""
    source = Bytes(value)
    if not _is_container(value[0] if value else 0):
        raise DoesNotFit("it begins like a single number or text, which any bytes may")
    _value(source, to)
    source.done()


def _is_container(first: int) -> bool:
    return 0x80 <= first <= 0x9F or first in _ARRAY or first in _MAP


def _value(source: Bytes, to: Writer) -> None:
    first = source.byte()
    if first < 0x80 or first >= 0xE0:
        to.integer(first if first < 0x80 else first - 256)
    elif first < 0x90:
        _map(source, to, first & 0x0F)
    elif first < 0xA0:
        _array(source, to, first & 0x0F)
    elif first < 0xC0:
        to.text(source.text(first & 0x1F))
    else:
        _more(source, to, first)


def _more(source: Bytes, to: Writer, first: int) -> None:
    if first in _LITERALS:
        to.token(_LITERALS[first])
    elif first in _INTEGER:
        to.integer(int(source.number(_INTEGER[first])))
    elif first in _TEXT:
        to.text(source.text(source.unsigned(_TEXT[first])))
    elif first in _BINARY:
        to.bytes(source.take(source.unsigned(_BINARY[first])))
    elif first in _EXTENSION or first in _FIXED_EXTENSION:
        length = _FIXED_EXTENSION[first] if first in _FIXED_EXTENSION else source.unsigned(_EXTENSION[first])
        _extension(source, to, length)
    else:
        _container_or_float(source, to, first)


def _container_or_float(source: Bytes, to: Writer, first: int) -> None:
    if first in _ARRAY:
        _array(source, to, source.unsigned(_ARRAY[first]))
    elif first in _MAP:
        _map(source, to, source.unsigned(_MAP[first]))
    elif first == 0xCA:
        to.single(source.number(">f"))
    elif first == 0xCB:
        to.double(source.number(">d"))
    else:
        raise DoesNotFit(f"byte {source.at} (0x{first:02x}) begins nothing")


def _array(source: Bytes, to: Writer, count: int) -> None:
    _enough(source, count)
    to.open("[")
    for _ in range(count):
        _value(source, to)
    to.close("]")


def _map(source: Bytes, to: Writer, count: int) -> None:
    _enough(source, 2 * count)
    to.open("{")
    for _ in range(count):
        _name(source, to)
        _value(source, to)
    to.close("}")


def _name(source: Bytes, to: Writer) -> None:
    first = source.whole[source.at] if source.left else 0
    if 0xA0 <= first < 0xC0:
        to.name(source.text(source.byte() & 0x1F))
    elif first in _TEXT:
        source.byte()
        to.name(source.text(source.unsigned(_TEXT[first])))
    else:
        to.name_of(lambda inner: _value(source, inner))


def _enough(source: Bytes, count: int) -> None:
    if count > source.left:  # a value takes a byte at least
        raise DoesNotFit(f"byte {source.at} announces {count} values, {source.left} bytes are left")


def _extension(source: Bytes, to: Writer, length: int) -> None:
    kind = int(source.number(">b"))
    content = source.take(length)
    at = _timestamp(content) if kind == -1 else ""
    if at:
        to.text(at)
        return
    to.open("{")
    to.name("extension")
    to.integer(kind)
    to.name("bytes")
    to.bytes(content)
    to.close("}")


def _timestamp(content: bytes) -> str:
    """A moment as ISO 8601 with nanoseconds; empty where it is none that a calendar has."""
    if len(content) == 4:
        seconds, nanos = int.from_bytes(content, "big"), 0
    elif len(content) == 8:
        both = int.from_bytes(content, "big")
        seconds, nanos = both & (2**34 - 1), both >> 34
    elif len(content) == 12:
        nanos, seconds = int.from_bytes(content[:4], "big"), int.from_bytes(content[4:], "big", signed=True)
    else:
        return ""
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanos:09}Z" if nanos < 10**9 else ""
