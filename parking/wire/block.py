"""The Siding block: the run of headers from the last `siding-version` to the end."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from parking.attempt import whole
from parking.coordinates import Coordinates
from parking.malformed import Malformed, shown
from parking.record import INT64, Headers
from parking.wire import names

LARGEST = 32 * 1024
"""Bytes that names and values of a block may have together, `siding-key` not counted."""

T = TypeVar("T")

LONGEST_NUMBER = 19
_DIGEST = re.compile(rb"[0-9a-f]{64}")


class Wire(NamedTuple):
    """What goes out in one Kafka record: key, value and ordered headers."""

    key: bytes | None
    value: bytes | None
    headers: Headers


def split(headers: Headers, begin: int | None = None) -> tuple[Headers, Headers]:
    """The original headers and the Siding block (empty where there is no `siding-version`); `begin` is where it begins,
    where that is known.
    """
    if begin is not None:
        return headers[:begin], headers[begin:]
    for place in range(len(headers) - 1, -1, -1):
        if headers[place][0] == names.VERSION:
            return headers[:place], headers[place:]
    return headers, ()


def size(block: Headers) -> int:
    """Bytes that count against the 32 KiB of a block."""
    return sum(len(name.encode()) + len(value or b"") for name, value in block if name != names.KEY)


def build(fields: Iterable[tuple[str, bytes | str | int | None]]) -> Headers:
    """A block of these fields in order, absent where None. `siding-version` is put first."""
    encoded = ((name, _encode(field)) for name, field in fields if field is not None)
    return ((names.VERSION, b"1"), *encoded)


def source_fields(source: Coordinates | None) -> list[tuple[str, str | int | None]]:
    """The four fields that say where an event came from; none where that is unknown."""
    if source is None:
        return []
    return [
        (names.SOURCE_TOPIC, source.topic),
        (names.SOURCE_PARTITION, source.partition),
        (names.SOURCE_OFFSET, source.offset),
        (names.SOURCE_TIMESTAMP, source.timestamp_ms),
    ]


def compact(members: Mapping[str, Any] | None) -> bytes | None:
    """A JSON object in UTF-8, as short as it gets; None for nothing.

    A value that JSON does not know is written as its text; where that does not help, the whole becomes
    `{"unreadable": "<what it looks like>"}`: a decision must not fail for what was meant to explain it.
    """
    if not members:
        return None
    try:
        written = json.dumps(dict(members), ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        written = json.dumps({"unreadable": shown(members)})
    return whole(written).encode()


def _encode(field: bytes | str | int) -> bytes:
    if isinstance(field, bytes):
        return field
    return str(field).encode("utf-8", "surrogatepass")


class Block:
    """Reads the fields of a block. One that is null or absent is unknown; one that cannot be read raises Malformed."""

    def __init__(self, headers: Headers) -> None:
        self._fields: dict[str, bytes | None] = dict(headers)
        if len(self._fields) < len(headers):
            _only_one_value(headers, self._fields)
        if self._fields.get(names.VERSION) != b"1":
            raise Malformed(f"header {names.VERSION}", "1", self._fields.get(names.VERSION))

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def raw(self, name: str) -> bytes | None:
        return self._fields.get(name)

    def text(self, name: str) -> str | None:
        value = self._fields.get(name)
        try:
            return None if value is None else value.decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed(f"header {name}", "UTF-8 text", value) from None

    def number(self, name: str) -> int | None:
        """A number of 64 bits; None where absent or −1."""
        value = self._fields.get(name)
        if value is None or value == b"-1":
            return None
        number = int(value) if value.isdigit() and len(value) <= LONGEST_NUMBER else -1
        if not 0 <= number < INT64:
            raise Malformed(f"header {name}", "a decimal number of at most 64 bits", value)
        return number

    def digest(self, name: str) -> bytes | None:
        value = self._fields.get(name)
        if value is None:
            return None
        if not _DIGEST.fullmatch(value):
            raise Malformed(f"header {name}", "64 lower-case hexadecimal digits", value)
        return bytes.fromhex(value.decode("ascii"))

    def word(self, name: str, words: tuple[str, ...]) -> str:
        word = self.text(name)
        if word is None or word not in words:
            raise Malformed(f"header {name}", " or ".join(words), self.raw(name))
        return word

    def members(self, name: str) -> dict[str, Any]:
        """A JSON object; empty where absent."""
        value = self._fields.get(name)
        if value is None:
            return {}
        try:
            members = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            members = None
        if not isinstance(members, dict):
            raise Malformed(f"header {name}", "a JSON object", value)
        return members

    def source(self) -> Coordinates | None:
        """Where the event came from; None where not even the topic is known."""
        topic = self.text(names.SOURCE_TOPIC)
        partition, offset = self._or_unknown(names.SOURCE_PARTITION), self._or_unknown(names.SOURCE_OFFSET)
        timestamp_ms = self._or_unknown(names.SOURCE_TIMESTAMP)
        return None if topic is None else Coordinates(topic, partition, offset, timestamp_ms)

    def _or_unknown(self, name: str) -> int:
        number = self.number(name)
        return -1 if number is None else number


def required(name: str, found: T | None) -> T:
    """What was found; raises Malformed where it is nothing."""
    if found is None:
        raise Malformed(f"header {name}", "a value", None)
    return found


def _only_one_value(headers: Headers, fields: Mapping[str, bytes | None]) -> None:
    for name, value in headers:
        if fields[name] != value and name.startswith("siding-"):
            raise Malformed(f"header {name}", "one value", fields[name])


def _no_constant(name: str) -> None:
    raise ValueError(name)
