"""MessagePack and CBOR, which nothing announces: only where one of them alone fits, from the first byte to the last."""

from dataclasses import replace

from parking.decoding import cbor, msgpack
from parking.decoding.errors import DoesNotFit, Full
from parking.decoding.report import Decoded, Verdict
from parking.decoding.special import look, sentences
from parking.decoding.writer import CUT, MOST_READ, Writer

_READERS = {"MessagePack": msgpack.write, "CBOR": cbor.write}


def detected(value: bytes) -> tuple[Decoded | None, list[Verdict]]:
    """The value by the one that fits it, None where none or both do; and what each said.

    A fitting value is an array or object with a text in it, and an object's names are texts: a few bytes of anything
    else are sometimes either by chance. CBOR that says so itself (RFC 8949, section 3.4.6) needs no such sign.
    """
    found = {name: _try(name, value) for name in _READERS}
    fitting = [name for name, (document, _) in found.items() if document is not None]
    if len(fitting) > 1:
        both = "it fits, but so does the other of the two: nothing tells them apart"
        return None, [replace(verdict, fits=False, said=both) for _, verdict in found.values()]
    verdicts = [verdict for _, verdict in found.values()]
    return (found[fitting[0]][0] if fitting else None), verdicts


def _try(name: str, value: bytes) -> tuple[Decoded | None, Verdict]:
    to = Writer(to_the_end=True)
    try:
        _READERS[name](value, to)
    except DoesNotFit as error:
        return None, Verdict(name, False, str(error))
    except Full:
        return None, Verdict(name, False, f"more than {MOST_READ} values: not read to its end, so nothing is sure")
    if not value.startswith(cbor.SELF_DESCRIBED) and (not to.texts or to.odd_names):
        return None, Verdict(name, False, "it could be, but there is no text in it, or a name that is none: a guess")
    special = sentences(look(to.document), to.document) if to.whole else [CUT]
    return Decoded("json", to.document, whole=to.whole, notes=(*to.notes, *special)), Verdict(
        name, True, f"all {len(value)} bytes are read"
    )
