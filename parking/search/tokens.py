"""What counts as a word, the same for what is indexed and for what is asked. Pure, and the same on every machine.

Texts are compared as NFKC with case folded (Unicode TR15, section 3.13 of the standard), by Unicode's own properties
and never by the locale of a database. A *run* is what stands between blanks and separators: `com.example.Error`,
`ab-12`, `15%`. It is found whole, by its pieces between `/ : @ #`, and by its words. Scripts that put no blanks between
words (Chinese, Japanese, Korean, Thai, …) are found by characters and pairs of characters.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import chain

_UNSEEN = "\\x00-\\x20\\x7f-\\xa0\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffd\ud800-\udfff"
_PUNCTUATION = r"\"'`()\[\]{}<>,;=|&!?*" + "‘’“”„«»‹›…–—、。〈〉《》「」『』【】・"
_SEPARATED = rf"\s{_UNSEEN}{_PUNCTUATION}"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[^{_SEPARATED}]+")
_WORD = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"[/:@#]+")
_SCRIPT = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SYMBOL = re.compile(r"_|[^\w.:/\-]")
_EDGE = ".:/-"

# For ASCII, which most texts are, the same on bytes; derived from the above, so that they cannot say anything else.
_ASCII = list(map(chr, range(128)))
_AS_RUNS = bytes(ord(one.lower()) if _RUN.match(one) else 32 for one in _ASCII) + bytes(128)
_AS_WORDS = bytes(ord(one) if _WORD.match(one) else 32 for one in _ASCII) + bytes(128)
_EDGE_BYTES = _EDGE.encode()
_IN_HYPHENED = b"abcdefghijklmnopqrstuvwxyz0123456789.-"


def folded(text: str) -> str:
    """The text as texts are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words(text: str) -> Iterator[str]:
    """Everything by which the text is found, in its order, repeats included."""
    return chain.from_iterable(map(_found_by, _RUN.findall(folded(text))))


def runs(text: bytes) -> list[bytes]:
    """The runs of a text in UTF-8, folded, in UTF-8, repeats included."""
    if text.isascii():
        return text.translate(_AS_RUNS).split()
    return [run.encode() for run in _RUN.findall(folded(text.decode("utf-8", "replace")))]


def of_run(run: bytes) -> Collection[bytes]:
    """Everything by which one of `runs` is found, in UTF-8."""
    whole = run.strip(_EDGE_BYTES)
    if whole.isalnum():
        return (whole,)
    if whole and not whole.translate(None, _IN_HYPHENED):
        return (*whole.translate(_AS_WORDS).split(), whole)
    return [word.encode() for word in _found_by(run.decode())]


def sought(text: str) -> list[str]:
    """What an event must have all of to be found by this text: the largest of its words, each once."""
    runs = _RUN.findall(folded(text))
    found = [word for run in runs for word in _sought(run)]
    return list(dict.fromkeys(found or (symbol for run in runs for symbol in _SYMBOL.findall(run))))


def _found_by(run: str) -> tuple[str, ...]:
    ascii_only = run.isascii()
    if ascii_only and run.isalnum():
        return (run,)
    found = _WORD.findall(run)
    if not ascii_only and _HAS_UNSPACED.search(run):
        found = list(chain.from_iterable(map(_in_scripts, found)))
    elif found:
        found.append(run.strip(_EDGE))
        if _PIECE.search(run):
            found += (piece.strip(_EDGE) for piece in _PIECE.split(run))
    return tuple(filter(None, dict.fromkeys((*found, *_SYMBOL.findall(run)))))


def _in_scripts(part: str) -> Iterator[str]:
    for stretch in _SCRIPT.findall(part):
        yield from (_characters(stretch) if _HAS_UNSPACED.match(stretch) else (stretch,))


def _characters(stretch: str) -> Iterator[str]:
    yield from stretch
    yield from _pairs(stretch)


def _pairs(stretch: str) -> list[str]:
    return [stretch[at : at + 2] for at in range(len(stretch) - 1)]


def _sought(run: str) -> list[str]:
    parts = _WORD.findall(run)
    if not parts:
        return []
    if not _HAS_UNSPACED.search(run):
        return [run.strip(_EDGE)]
    stretches = [stretch for part in parts for stretch in _SCRIPT.findall(part)]
    return [word for stretch in stretches for word in _longest(stretch)]


def _longest(stretch: str) -> list[str]:
    """Pairs where there are any, for a single character itself."""
    return (_pairs(stretch) or [stretch]) if _HAS_UNSPACED.match(stretch) else [stretch]
