"""What counts as a word, the same for what is indexed and for what is asked. Pure, and the same on every machine.

Texts are compared as NFKC with case folded (Unicode TR15, section 3.13 of the standard), by Unicode's own properties
and never by the locale of a database. A *run* is what stands between blanks and separators: `com.example.Error`,
`ab-12`, `15%`. It is found whole, by its pieces between `/ : @ #`, and by its words. Scripts that put no blanks between
words (Chinese, Japanese, Korean, Thai, …) are found by characters and pairs of characters.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import TypeVar

_V = TypeVar("_V")

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
_REMEMBERED = 50_000
_SHORT = 40


def folded(text: str) -> str:
    """The text as texts are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words(text: str) -> Iterator[str]:
    """Everything by which the text is found, in its order, repeats included."""
    return chain.from_iterable(map(_RUNS.__getitem__, _RUN.findall(folded(text))))


def sought(text: str) -> list[str]:
    """What an event must have all of to be found by this text: the largest of its words, each once."""
    runs = _RUN.findall(folded(text))
    found = [word for run in runs for word in _sought(run)]
    return list(dict.fromkeys(found or (symbol for run in runs for symbol in _SYMBOL.findall(run))))


@lru_cache(maxsize=16)
def hashes(flow: int) -> Mapping[str, str]:
    """Word → one signed 64-bit number of the flow, in decimal digits, as PostgreSQL reads it: BLAKE2b-64 salted with
    the flow's id. It is stored: it must not change.
    """
    return _Remembered(partial(_hash, flow.to_bytes(8, "big")))


class _Remembered(dict[str, _V]):
    """Makes what is asked for, and remembers what is short: most words come again and again."""

    def __init__(self, make: Callable[[str], _V]) -> None:
        self._make = make

    def __missing__(self, text: str) -> _V:
        made = self._make(text)
        if len(text) <= _SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = made
        return made


def _hash(flow: bytes, word: str) -> str:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8, salt=flow).digest()
    return str(int.from_bytes(digest, "big", signed=True))


def _found_by(run: str) -> tuple[str, ...]:
    if run.isalnum() and run.isascii():
        return (run,)
    return tuple(word for word in dict.fromkeys((*_parts(run), *_SYMBOL.findall(run))) if word)


def _parts(run: str) -> Iterator[str]:
    parts = _WORD.findall(run)
    for part in parts:
        yield from _in_scripts(part)
    if parts and not _HAS_UNSPACED.search(run):
        yield run.strip(_EDGE)
        yield from (piece.strip(_EDGE) for piece in _PIECE.split(run))


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


_RUNS = _Remembered(_found_by)
