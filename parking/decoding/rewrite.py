"""The JSON that a value is shown as, edited, as bytes of the same schema again; only where that is proven to be exact.

The proof is the value itself: what is shown of it, written again, has to be the very same bytes. Otherwise (another
writer's blocks, fields that the schema does not know, a signalling NaN) it can only be amended as bytes.
"""

from parking.decoding import avro_schema, avro_write, pairs, protobuf, protobuf_write
from parking.decoding.errors import DoesNotFit, NotWritable
from parking.decoding.frame import Frame, body, indexes
from parking.decoding.report import Decoded
from parking.decoding.schema import AVRO, JSON, PROTOBUF, Schema


def rewritable(value: bytes | None, shown: Decoded) -> bool:
    """Whether the JSON of this value can be edited."""
    if not value or not shown.whole or shown.lossy or shown.frame is None or shown.schema is None:
        return False
    try:
        return rewrite(shown.written, value, shown) == value
    except NotWritable:
        return False


def rewrite(text: str, value: bytes, shown: Decoded) -> bytes:
    """The bytes that the JSON text means, behind the same frame as `value`, which is shown as `shown`.

    Raises NotWritable: where in the JSON, what was expected, what arrived.
    """
    frame, schema = shown.frame, shown.schema
    assert frame is not None
    assert schema is not None
    try:
        return _in_frame(text, value, frame, schema)
    except (DoesNotFit, RecursionError) as error:
        raise NotWritable("", "a value of the schema", str(error)) from None


def _in_frame(text: str, value: bytes, frame: Frame, schema: Schema) -> bytes:
    if schema.kind == AVRO:
        return value[: body(frame)] + avro_write.encode(pairs.read(text), avro_schema.parse(schema))
    if schema.kind == PROTOBUF:
        place, at = indexes(frame)
        return value[:at] + protobuf_write.encode(pairs.read(text), protobuf.parse(schema, place))
    assert schema.kind == JSON
    try:
        return value[: body(frame)] + text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotWritable("", "a text of whole characters", "half of a character (a lone surrogate)") from None
