"""Where a value names its schema: in its first five bytes, or in a header (Confluent's wire format).

In front of the value: a zero byte and the schema's number as four bytes. In the header `__value_schema_id` (and
`__key_schema_id`): the same five bytes, or a one and the schema's GUID as sixteen (Confluent's clients since 2025). For
Protobuf the place of the message in its file follows: a list of numbers, the outermost first; 0 alone means the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from parking.decoding.bytes_of import Bytes
from parking.decoding.errors import DoesNotFit
from parking.decoding.schema import SchemaId

HEADERS = {"value": "__value_schema_id", "key": "__key_schema_id"}
MOST_INDEXES = 100
Headers = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Frame:
    """`schema` names it; `header` is the name of the header that said so, empty for the value's own bytes.

    `rest` is what follows the name of the schema: for Protobuf the indexes, for others (in the value) the value.
    """

    schema: SchemaId
    header: str
    naming: bytes
    after: int

    def __str__(self) -> str:
        return f"schema {self.schema}"


def find(value: bytes, headers: Headers, part: str) -> Frame | None:
    """The frame of a key or value; None where nothing names a schema. A header goes before the first bytes."""
    name = HEADERS[part]
    for header, content in reversed(headers):
        if header == name and content is not None:
            found = _named(content)
            if found is not None:
                return Frame(found[0], name, content, found[1])
    found = _named(value) if value[:1] == b"\0" and len(value) >= 5 else None
    return None if found is None else Frame(found[0], "", value, found[1])


def _named(naming: bytes) -> tuple[SchemaId, int] | None:
    if naming[:1] == b"\0" and len(naming) >= 5:
        number = int.from_bytes(naming[1:5], "big")
        return (number, 5) if 0 < number < 2**31 else None
    if naming[:1] == b"\1" and len(naming) >= 17:
        return str(UUID(bytes=naming[1:17])), 17
    return None


def body(frame: Frame) -> int:
    """Where the value itself begins, for Avro and JSON."""
    return 0 if frame.header else frame.after


def indexes(frame: Frame) -> tuple[list[int], int]:
    """For Protobuf: the place of the message in its file, and where the message begins. Raises DoesNotFit.

    Older Python clients wrote these numbers unsigned (`use.deprecated.format`); an odd count tells.
    """
    source = Bytes(frame.naming, frame.after)
    number = source.zigzag if source.left and source.whole[source.at] % 2 == 0 else source.varint
    count = number()
    if not 0 <= count <= MOST_INDEXES:
        raise DoesNotFit(f"its place in the schema has {count} parts")
    found = [number() for _ in range(count)] or [0]
    if min(found) < 0:
        raise DoesNotFit("its place in the schema has a negative part")
    return found, 0 if frame.header else source.at
