"""By which words one parked event is found. Pure; never raises, whatever arrived.

Open words are those of what everybody sees who sees the flow: event id, hold key, coordinates, event type, error types.
Everything else may carry values of the payload and is for those who may see payloads: error messages, validation
errors, header names and values, the record key where it is not the hold key, and the value.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from parking.record import Headers
from parking.search.tokens import folded, found_by

_Word = TypeVar("_Word")

MOST_CHARACTERS = 64 * 1024
"""Of the text of one event that are read; the rest is not found, and `cut` says so."""
MOST_WORDS = 1000
LONGEST_ID = 4096
"""Characters of a key, an id, an event type or an error type that are read."""
LARGEST_JSON = 256 * 1024
"""Bytes of a value up to which it is read as JSON; of a larger one the beginning is read as text."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the store holds of one event. `places` are `topic/partition/offset`; without a payload the rest is empty."""

    event_id: str
    key: bytes | None
    places: Collection[str] = ()
    event_type: str = ""
    error_types: Collection[str] = ()
    messages: Collection[str] = ()
    validation_errors: Collection[dict[str, Any]] = ()
    record_key: bytes | None = None
    headers: Headers = ()
    value: bytes | None = None
    paths: object = ()
    """The flow's list of members of a JSON value that are found as `path=value`."""


@dataclass(frozen=True, slots=True)
class Words(Generic[_Word]):
    """Each word once, in the order of the texts. `all` holds the open ones too."""

    open: Collection[_Word]
    all: Collection[_Word]
    cut: bool


@dataclass(frozen=True, slots=True)
class Making(Generic[_Word]):
    """How words are made: `of_run` of what stands together (see `tokens`), `of_whole` of a text that is one word."""

    of_run: Mapping[str, Iterable[_Word]]
    of_whole: Callable[[str], _Word]


def read(source: Source, making: Making[_Word]) -> Words[_Word]:
    """The words of one event."""
    found = _open(source, making)
    texts, pairs, cut = _texts(source)
    everything = found.copy()
    everything.update(dict.fromkeys(map(making.of_whole, pairs)))
    everything.update(dict.fromkeys(found_by(texts, making.of_run)))
    most = len(found) + MOST_WORDS
    if len(everything) > most:
        return Words(found, list(everything)[:most], cut=True)
    return Words(found, everything, cut)


def least(source: Source, making: Making[_Word]) -> Words[_Word]:
    """For an event whose words cannot be made: its id, and that the rest is missing."""
    found = [making.of_whole(folded(source.event_id))]
    return Words(found, found, cut=True)


def pair(path: str, value: str) -> str:
    """The word of a JSON member that is found by its path; no text has such a word."""
    return f"{folded(path)}={folded(value)}"


def allowed(paths: object) -> frozenset[str]:
    """The search paths of a flow as they are compared; what is no text in them is no path."""
    return (
        frozenset(folded(path) for path in paths if isinstance(path, str)) if isinstance(paths, list) else frozenset()
    )


def key_text(key: bytes) -> str:
    """A key as people write it: its text, or hex where it has none."""
    cut = key[:LONGEST_ID]
    try:
        return cut.decode("utf-8")
    except UnicodeDecodeError:
        return cut.hex() if key == cut else cut.decode("utf-8", "replace")


def _open(source: Source, making: Making[_Word]) -> dict[_Word, None]:
    texts = [text[:LONGEST_ID] for text in (*source.error_types, source.event_type)]
    if source.key is not None:
        texts.append(key_text(source.key)[:LONGEST_ID])
    if not any(source.event_id.startswith(f"{place}@") for place in source.places):
        texts.append(source.event_id[:LONGEST_ID])
    whole = [source.event_id, *source.places]  # the numbers in coordinates are no words
    found = dict.fromkeys(map(making.of_whole, map(folded, whole)))
    found.update(dict.fromkeys(found_by("\n".join(texts), making.of_run)))
    return found


def _texts(source: Source) -> tuple[str, list[str], bool]:
    """What may carry values as one text, the members that are found by their path, and whether anything was cut."""
    texts = [*source.messages, *_of_validation(source.validation_errors)]
    if source.record_key is not None and source.record_key != source.key:
        texts.append(key_text(source.record_key))
    texts += _of_headers(source.headers)
    pairs = []
    if source.value is not None:
        paths = allowed(source.paths)
        for path, text in leaves(source.value, paths=bool(paths)):
            texts.append(text)
            if path in paths:
                pairs.append(pair(path, text))
    whole = "\n".join(texts)
    cut = len(whole) > MOST_CHARACTERS or (source.value is not None and len(source.value) > LARGEST_JSON)
    return whole[:MOST_CHARACTERS], pairs, cut


def _of_headers(headers: Headers) -> Iterator[str]:
    """Names and values; a stack trace is looked at and not searched, whoever writes it into a header."""
    for name, value in headers:
        yield name
        if value is not None and not name.lower().endswith(("stacktrace", "stack_trace", "stack-trace")):
            yield _text(value)


def _of_validation(errors: Iterable[dict[str, Any]]) -> Iterator[str]:
    for error in errors:
        yield from (str(error[name]) for name in ("path", "expected", "actual", "hint") if error.get(name))


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
