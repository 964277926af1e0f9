"""By which words one parked event is found. Pure; never raises, whatever arrived.

Open words are those of what everybody sees who sees the flow: event id, hold key, coordinates, event type, error types.
Everything else may carry values of the payload and is for those who may see payloads: error messages, validation
errors, header names and values, the record key where it is not the hold key, and the value.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from parking.record import Headers
from parking.search.tokens import folded, words

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
class Words:
    """Each word once, in the order of the texts. `all` holds the open ones too."""

    open: list[str]
    all: list[str]
    cut: bool


def read(source: Source) -> Words:
    """The words of one event."""
    found = _open(source)
    texts, pairs, cut = _texts(source)
    everything = {**found, **dict.fromkeys(pairs), **dict.fromkeys(words(texts))}
    most = len(found) + MOST_WORDS
    return Words(list(found), list(everything)[:most], cut or len(everything) > most)


def least(source: Source) -> Words:
    """For an event whose words cannot be made: its id, and that the rest is missing."""
    found = [folded(source.event_id)]
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


def _open(source: Source) -> dict[str, None]:
    texts = [*source.error_types, source.event_type]
    if source.key is not None:
        texts.append(key_text(source.key))
    if not any(source.event_id.startswith(f"{place}@") for place in source.places):
        texts.append(source.event_id)
    whole = [source.event_id, *source.places]  # the numbers in coordinates are no words
    return dict.fromkeys(
        [*(folded(one) for one in whole), *(word for text in texts for word in words(text[:LONGEST_ID]))]
    )


def _texts(source: Source) -> tuple[str, list[str], bool]:
    """What may carry values as one text, the members that are found by their path, and whether anything was cut."""
    paths = allowed(source.paths)
    texts, pairs, left = [], [], MOST_CHARACTERS
    for path, text in _values(source):
        texts.append(text[:left])
        left -= len(text) + 1
        if paths and path in paths:
            pairs.append(pair(path, text))
        if left < 0:
            return "\n".join(texts), pairs, True
    return "\n".join(texts), pairs, source.value is not None and len(source.value) > LARGEST_JSON


def _values(source: Source) -> Iterator[tuple[str, str]]:
    """(path, text): redaction rules will stand here, before anything becomes a word."""
    for text in (*source.messages, *_of_validation(source.validation_errors)):
        yield "", text
    if source.record_key is not None and source.record_key != source.key:
        yield "", key_text(source.record_key)
    for name, value in source.headers:
        yield "", name
        if value is not None:
            yield "", _text(value)
    if source.value is not None:
        yield from leaves(source.value)


def _of_validation(errors: Iterable[dict[str, Any]]) -> Iterator[str]:
    for error in errors:
        yield from (str(error[name]) for name in ("path", "expected", "actual", "hint") if error.get(name))


def _text(value: bytes) -> str:
    return value[:LARGEST_JSON].decode("utf-8", "replace")


class _Object(list[tuple[str, Any]]):
    """The members of a JSON object in their order, repeated names included."""


def leaves(value: bytes) -> Iterator[tuple[str, str]]:
    """(path, text) of each scalar of a JSON value, numbers digit for digit, lists left out of the path; names have no
    path. What is not JSON is one text.
    """
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
