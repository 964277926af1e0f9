"""CBOR as JSON text (RFC 8949). Nothing is built, so repeated names stay; integers of any size keep their digits."""

from parking.decoding.bytes_of import Bytes
from parking.decoding.errors import DoesNotFit
from parking.decoding.writer import Writer

SELF_DESCRIBED = b"\xd9\xd9\xf7"
"""Tag 55799, which says nothing but that this is CBOR (section 3.4.6)."""
LARGEST_INTEGER = 8 * 1024
"""Bytes of an integer (tags 2 and 3) that are turned into digits; more are shown as bytes."""
UNDEFINED = "CBOR's undefined is shown as null."

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _OTHER = range(8)
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_LITERALS = {20: "false", 21: "true", 22: "null"}
_UNTIL_BREAK = 31
_BREAK = 0xFF


def write(value: bytes, to: Writer) -> None:
    """The whole value as JSON. Raises DoesNotFit, also where bytes are left or the outermost is no array or map."""
    source = Bytes(value, at=len(SELF_DESCRIBED) if value.startswith(SELF_DESCRIBED) else 0)
    if source.left and source.whole[source.at] >> 5 not in (_ARRAY, _MAP):
        raise DoesNotFit("it begins like a single number or text, which any bytes may")
    _value(source, to)
    source.done()


def _value(source: Bytes, to: Writer) -> None:
    kind, low = _head(source)
    if kind == _OTHER:
        _other(source, to, low)
    elif kind in (_ARRAY, _MAP):
        _container(source, to, kind, low)
    elif kind == _BYTES:
        to.bytes(_string(source, kind, low))
    elif kind == _TEXT:
        to.text(_text(source, low))
    elif kind == _TAG:
        _tagged(source, to, _argument(source, low))
    else:
        number = _argument(source, low)
        to.integer(number if kind == _UNSIGNED else -1 - number)


def _head(source: Bytes) -> tuple[int, int]:
    first = source.byte()
    return first >> 5, first & 0x1F


def _argument(source: Bytes, low: int) -> int:
    if low < 24:
        return low
    if low > 27:
        raise DoesNotFit(f"byte {source.at} has a length that CBOR does not know")
    return source.unsigned(1 << (low - 24))


def _string(source: Bytes, kind: int, low: int) -> bytes:
    if low != _UNTIL_BREAK:
        return source.take(_argument(source, low))
    pieces = []
    while source.left and source.whole[source.at] != _BREAK:
        inner, length = _head(source)
        if inner != kind or length == _UNTIL_BREAK:
            raise DoesNotFit(f"byte {source.at} is no piece of the text or bytes around it")
        pieces.append(source.take(_argument(source, length)))
    source.byte()
    return b"".join(pieces)


def _text(source: Bytes, low: int) -> str:
    start = source.at
    try:
        return _string(source, _TEXT, low).decode("utf-8")
    except UnicodeDecodeError:
        raise DoesNotFit(f"the text at byte {start} is not UTF-8") from None


def _container(source: Bytes, to: Writer, kind: int, low: int) -> None:
    count = None if low == _UNTIL_BREAK else _argument(source, low)
    if count is not None and count * (1 if kind == _ARRAY else 2) > source.left:  # a value takes a byte at least
        raise DoesNotFit(f"byte {source.at} announces {count} values, {source.left} bytes are left")
    to.open("[" if kind == _ARRAY else "{")
    done = 0
    while not _ended(source) if count is None else done < count:
        if kind == _MAP:
            _name(source, to)
        _value(source, to)
        done += 1
    to.close("]" if kind == _ARRAY else "}")


def _ended(source: Bytes) -> bool:
    ended = source.left > 0 and source.whole[source.at] == _BREAK
    if ended:
        source.byte()
    return ended


def _name(source: Bytes, to: Writer) -> None:
    if source.left and source.whole[source.at] >> 5 == _TEXT:
        _, low = _head(source)
        to.name(_text(source, low))
    else:
        to.name_of(lambda inner: _value(source, inner))


def _tagged(source: Bytes, to: Writer, tag: int) -> None:
    if tag in (2, 3) and source.left and source.whole[source.at] >> 5 == _BYTES:
        before = source.at
        _, low = _head(source)
        content = _string(source, _BYTES, low)
        if len(content) <= LARGEST_INTEGER:
            number = int.from_bytes(content, "big")
            to.integer(number if tag == 2 else -1 - number)
            return
        source.at = before
    to.open("{")
    to.name("tag")
    to.integer(tag)
    to.name("value")
    _value(source, to)
    to.close("}")


def _other(source: Bytes, to: Writer, low: int) -> None:
    if low in _LITERALS:
        to.token(_LITERALS[low])
    elif low == 23:
        to.notes[UNDEFINED] = None
        to.token("null")
    elif low in _FLOATS:
        number = source.number(_FLOATS[low])
        (to.double if low == 27 else to.single)(number)
    elif low < 24 or (low == 24 and source.left and source.whole[source.at] >= 32):
        to.open("{")
        to.name("simple")
        to.integer(low if low < 24 else source.byte())
        to.close("}")
    else:
        raise DoesNotFit(f"byte {source.at} begins nothing")
