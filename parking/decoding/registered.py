"""Values that name their schema: Avro, Protobuf and JSON Schema, by a schema registry."""

from collections.abc import Callable

from parking.decoding import avro, avro_schema, protobuf
from parking.decoding.errors import DoesNotFit, Full, NoSchema
from parking.decoding.frame import HEADERS, Frame, Headers, body, find, indexes
from parking.decoding.plain import as_json, json_of, text_of
from parking.decoding.report import Decoded, Verdict
from parking.decoding.schema import AVRO, JSON, PROTOBUF, Schema, SchemaOf
from parking.decoding.special import look, sentences
from parking.decoding.writer import CUT, Writer

NAMES = {AVRO: "Avro", PROTOBUF: "Protobuf", JSON: "JSON Schema"}
ALL = ", ".join(NAMES.values())
REGISTRY = "schema registry"


def registered(
    value: bytes, headers: Headers, schema_of: SchemaOf | None, part: str
) -> tuple[Decoded | None, list[Verdict]]:
    """The value by the schema that it names, where that can be had and fits; and what to say, the winner first."""
    frame = find(value, headers, part)
    if frame is None:
        said = f"no schema is named: no frame of five bytes in front, no header {HEADERS[part]}"
        return None, [Verdict(ALL, False, said)]
    if schema_of is None:
        said = f"{_where(frame)} {frame}, but no schema registry is declared for this cluster"
        return _json_in_frame(value, frame, Verdict(ALL, False, said))
    try:
        schema = schema_of(frame.schema)
    except NoSchema as error:
        return _json_in_frame(value, frame, Verdict(REGISTRY, False, f"{_where(frame)} {frame}, but {error}"))
    decoder = NAMES.get(schema.kind, schema.kind)
    others = Verdict(", ".join(name for name in NAMES.values() if name != decoder), False, f"{frame} is none of these")
    try:
        found = _BY_KIND[schema.kind](value, frame, schema)
    except KeyError:
        return _json_in_frame(value, frame, Verdict(REGISTRY, False, f"{frame} is of a kind not known here: {decoder}"))
    except DoesNotFit as error:
        shown, said_too = _json_in_frame(value, frame, Verdict(decoder, False, f"by {frame}: {error}"))
        return shown, [*said_too, others]
    return _with_origin(found, frame, schema), [Verdict(decoder, True, _how(frame, found)), others]


def _where(frame: Frame) -> str:
    return f"the header {frame.header} names" if frame.header else "its first five bytes would name"


def _how(frame: Frame, found: Decoded) -> str:
    where = f"named by the header {frame.header}" if frame.header else "named by its first five bytes"
    return f"by {frame}, {where}{'' if found.whole else '; only its beginning was read'}"


def _with_origin(found: Decoded, frame: Frame, schema: Schema) -> Decoded:
    return Decoded(
        found.form, found.written, found.whole, found.lossy, found.notes, found.preview, frame=frame, schema=schema
    )


def _json_in_frame(value: bytes, frame: Frame, why: Verdict) -> tuple[Decoded | None, list[Verdict]]:
    """What JSON Schema's serializers write can be read without a schema: JSON stands behind the frame."""
    rest, _ = text_of(value[body(frame) :])
    special = json_of(rest)[0] if not frame.header and rest else None
    if special is None or rest is None:
        return None, [why]
    found = as_json(rest, special, notes=(f"Shown without its schema: {why.said}.",))
    return _with_origin(found, frame, Schema(JSON, "")), [Verdict("JSON in a frame", True, f"it names {frame}"), why]


def _avro(value: bytes, frame: Frame, schema: Schema) -> Decoded:
    of = avro_schema.parse(schema)
    return written(lambda to: avro.write(value, body(frame), of, to))


def _protobuf(value: bytes, frame: Frame, schema: Schema) -> Decoded:
    place, at = indexes(frame)
    message = protobuf.read(value, at, protobuf.parse(schema, place))
    return written(lambda to: protobuf.write(message, to))


def _json_schema(value: bytes, frame: Frame, _: Schema) -> Decoded:
    rest, no_text = text_of(value[body(frame) :])
    special, no_json = json_of(rest)
    if rest is None or special is None:
        raise DoesNotFit(no_text.said if rest is None else no_json.said)
    return as_json(rest, special)


_BY_KIND = {AVRO: _avro, PROTOBUF: _protobuf, JSON: _json_schema}


def written(write: Callable[[Writer], None]) -> Decoded:
    """What a decoder writes, or its beginning where that is too much. Raises DoesNotFit."""
    to = Writer()
    try:
        write(to)
    except Full:
        return Decoded("json", to.document, whole=False, notes=(*to.notes, CUT))
    return Decoded("json", to.document, notes=(*to.notes, *sentences(look(to.document), to.document)))
