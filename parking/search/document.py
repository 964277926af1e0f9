"""By which words one parked event is found. Pure; never raises, whatever arrived.

Open words are those of what everybody sees who sees the flow: event id, hold key, coordinates, event type, error types.
Everything else may carry values of the payload and is for those who may see payloads: error messages, validation
errors, header names and values, the record key where it is not the hold key, and the value.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parking.search.kinds import Common, Kind
from parking.search.numbers import ELEMENT, Numbers, each_once, of_flow, of_payloads
from parking.search.tokens import folded, runs

MOST_CHARACTERS = 64 * 1024
"""Of the text of one event that are read; the rest is not found, and `cut` says so."""
MOST_WORDS = 1000
LONGEST_SHARED = 4096
"""Bytes of the text of an event up to which it is looked for what its kind has in common: that is kept in memory."""
LONGEST_ID = 4096
"""Characters of a key, an id, an event type or an error type that are read."""
LARGEST_JSON = 256 * 1024
"""Bytes of a value up to which it is read as JSON; of a larger one the beginning is read as text."""
NO_PATHS: frozenset[str] = frozenset()


@dataclass(slots=True)
class Source:
    """What the store holds of one event. `places` are `topic/partition/offset`; without a payload the rest is empty.

    `headers` are texts in UTF-8: names, and those values that are searched.
    """

    event_id: str
    key: bytes | None
    places: Sequence[str] = ()
    event_type: str = ""
    error_types: Collection[str] = ()
    messages: Collection[str] = ()
    validation_errors: Collection[dict[str, Any]] = ()
    record_key: bytes | None = None
    headers: Sequence[bytes] = ()
    value: bytes | None = None
    paths: Collection[str] = ()
    """The members of a JSON value that are found as `path=value`, as `allowed` has them."""


@dataclass(slots=True)
class Words:
    """Words as elements of an array (`numbers`), in any order, except that the first `open` are the open ones."""

    all: bytes
    open: int
    cut: bool
    common: Common | None = None
    """What stands in `all` for words that many events have."""


def read(source: Source, flow: int, kind: Kind | None = None) -> Words:
    """The words of one event. What its `kind` has in common is one number, except where its text is cut; what is among
    the open ones is not once more among the others.
    """
    openly, numbers = set(_open_runs(source)), of_payloads(flow)
    found = b"".join([*_entire(source, flow), *map(of_flow(flow).__getitem__, openly)])
    text, pairs, cut = _texts(source)
    in_order = runs(text)
    own = set(in_order)
    common = kind.of(own) if kind and len(text) <= LONGEST_SHARED else None
    own -= openly
    if common:
        own -= common.runs
    more = _elements(numbers, own, pairs)
    if len(more) > MOST_WORDS * ELEMENT:
        each = each_once(_elements(numbers, [run for run in in_order if run in own], pairs))
        more, cut = b"".join(each[:MOST_WORDS]), cut or len(each) > MOST_WORDS
    if common:
        more += common.element
    return Words(found + more, len(found) // ELEMENT, cut, common)


def least(source: Source, flow: int) -> Words:
    """For an event whose words cannot be made: its id, and that the rest is missing."""
    return Words(of_flow(flow).element(_bytes(folded(source.event_id))), 1, cut=True)


def pair(path: str, value: str) -> str:
    """The word of a JSON member that is found by its path; no text has such a word."""
    return f"{folded(path)}={folded(value)}"


def allowed(paths: object) -> frozenset[str]:
    """The search paths of a flow as they are compared; what is no text in them is no path."""
    return frozenset(folded(path) for path in paths if isinstance(path, str)) if isinstance(paths, list) else NO_PATHS


def key_text(key: bytes) -> bytes:
    """A key as people write it, in UTF-8: its text, or hex where it has none."""
    cut = key[:LONGEST_ID]
    if cut.isascii():
        return cut
    try:
        return cut.decode("utf-8").encode()
    except UnicodeDecodeError:
        return cut.hex().encode() if key == cut else cut


def _entire(source: Source, flow: int) -> list[bytes]:
    """The event id and the coordinates are found whole; what numbers coordinates have in them are no words."""
    element = of_flow(flow).element
    return [element(_bytes(folded(one))) for one in (source.event_id, *source.places)]


def _open_runs(source: Source) -> list[bytes]:
    """Of everything else that is open. An event id that was made of the coordinates is no text, either."""
    event_id = source.event_id
    texts = [text[:LONGEST_ID] for text in (*source.error_types, source.event_type)]
    if "@" not in event_id or not any(event_id.startswith(f"{place}@") for place in source.places):
        texts.append(event_id[:LONGEST_ID])
    found = _bytes("\n".join(texts))
    return runs(found if source.key is None else b"%b\n%b" % (found, key_text(source.key)))


def _elements(numbers: Numbers, runs: Iterable[bytes], pairs: Iterable[str]) -> bytes:
    own = b"".join(map(numbers.__getitem__, runs))
    return own + b"".join([numbers.element(_bytes(one)) for one in dict.fromkeys(pairs)]) if pairs else own


def _texts(source: Source) -> tuple[bytes, list[str], bool]:
    """What may carry values as one text, the members that are found by their path, and whether anything was cut."""
    texts = [*map(_bytes, source.messages), *map(_bytes, _of_validation(source.validation_errors))]
    if source.record_key is not None and source.record_key != source.key:
        texts.append(key_text(source.record_key))
    texts += source.headers
    value, pairs, cut = source.value, [], False
    if value is not None:
        cut = len(value) > LARGEST_JSON
        if source.paths or b"\\" in value:
            pairs = _members(value, source.paths, texts)
        else:
            texts.append(value[:LARGEST_JSON])
    text, shortened = _shortened(b"\n".join(texts))
    return text, pairs, cut or shortened


def _members(value: bytes, paths: Collection[str], texts: list[bytes]) -> list[str]:
    """Adds the texts of a value to `texts`; the words of those members that are found by their path."""
    pairs = []
    for path, text in leaves(value, paths=bool(paths)):
        texts.append(_bytes(text))
        if path in paths:
            pairs.append(pair(path, text))
    return pairs


def _shortened(text: bytes) -> tuple[bytes, bool]:
    """As many characters of a text as are read, and whether there were more."""
    if len(text) <= MOST_CHARACTERS:
        return text, False
    characters = text.decode("utf-8", "replace")
    return characters[:MOST_CHARACTERS].encode(), len(characters) > MOST_CHARACTERS


def _of_validation(errors: Iterable[dict[str, Any]]) -> Iterator[str]:
    for error in errors:
        yield from (str(error[name]) for name in ("path", "expected", "actual", "hint") if error.get(name))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(value: bytes) -> str:
    return value[:LARGEST_JSON].decode("utf-8", "replace")


class _Object(list[tuple[str, Any]]):
    """The members of a JSON object in their order, repeated names included."""


def leaves(value: bytes, *, paths: bool) -> Iterator[tuple[str, str]]:
    """(path, text) of each scalar of a JSON value, numbers digit for digit, lists left out of the path; names have no
    path. What is not JSON is one text, and so is JSON without escapes where nobody asks for paths: what stands between
    its marks are the same words.
    """
    if not paths and b"\\" not in value:
        yield "", _text(value)
        return
    try:
        document = json.loads(
            _whole(value), object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=str
        )
    except (ValueError, RecursionError):
        yield "", _text(value)
        return
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, member = waiting.pop()
        if isinstance(member, _Object):
            waiting.extend((f"{path}.{name}" if path else name, inner) for name, inner in reversed(member))
            yield from (("", name) for name, _ in member)
        elif isinstance(member, list):
            waiting.extend((path, inner) for inner in reversed(member))
        else:
            yield folded(path), member if isinstance(member, str) else json.dumps(member)


def _whole(value: bytes) -> str:
    if len(value) > LARGEST_JSON:
        raise ValueError("too long to be read as JSON")
    return value.decode("utf-8", "replace")
