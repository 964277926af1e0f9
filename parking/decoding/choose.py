"""Which way of reading fits a value: the surest one that does."""

from dataclasses import replace

from parking.decoding import plain
from parking.decoding.detected import detected
from parking.decoding.frame import Headers
from parking.decoding.registered import REGISTRY, registered
from parking.decoding.report import Decoded, Verdict
from parking.decoding.schema import SchemaOf

HEX = Verdict("hex", True, "any bytes can be shown like this")


def decode(
    value: bytes | None, *, headers: Headers = (), schema_of: SchemaOf | None = None, part: str = "value"
) -> Decoded:
    """Read a `value` or `key` (`part`). Never raises.

    A schema that is named in front or in a header goes first; then JSON, text, MessagePack and CBOR; then hex.
    `schema_of` is asked only where a schema is named; None: no registry is known.
    """
    if value is None:
        return Decoded("null", "null", verdicts=(Verdict("null", True, "there is no value"),))
    if not value:
        return Decoded("empty", verdicts=(Verdict("empty", True, "the value has 0 bytes"),))
    by_schema, said = registered(value, headers, schema_of, part)
    text, as_text = plain.text_of(value)
    special, as_json = plain.json_of(text)
    by_itself, said_too = detected(value)
    verdicts = [*said, as_json, as_text, *said_too, HEX]
    if by_schema is not None:
        return _won(by_schema, said[0], verdicts)
    if text is not None and special is not None:
        return _won(plain.as_json(text, special), as_json, verdicts)
    if text is not None:
        return _won(plain.as_text(text), as_text, verdicts)
    if by_itself is not None:
        return _won(by_itself, next(one for one in said_too if one.fits), verdicts)
    shown = plain.not_utf8(value)
    return _won(shown, HEX if shown.form == "hex" else replace(as_json, fits=True, said="but for some bytes"), verdicts)


def _won(found: Decoded, winner: Verdict, verdicts: list[Verdict]) -> Decoded:
    """The winner first; of others that fit too, why it is surer; and a schema that was named in vain is a warning."""
    others = [
        replace(one, said=f"{one.said}, but {winner.decoder} says more") if one.fits else one
        for one in verdicts
        if one.decoder != winner.decoder
    ]
    vain = [] if found.frame else [one for one in verdicts if one.decoder in (REGISTRY, *_KINDS) and not one.fits]
    notes = (*(f"Not read by its schema: {one.said}." for one in vain), *found.notes)
    return replace(found, notes=notes, verdicts=(winner, *others))


_KINDS = ("Avro", "Protobuf", "JSON Schema")
