"""A Kafka record as it arrived: bytes, ordered headers, nulls and repeats included."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parking.coordinates import Coordinates
from parking.malformed import Malformed

Headers = tuple[tuple[str, bytes | None], ...]
INT64 = 2**63


@dataclass(slots=True)  # not frozen, which takes three times as long to make; nothing changes it
class Record:
    """One record. `timestamp_ms` is milliseconds since 1970 or −1; headers keep their order, repeats and nulls.

    `fault` says what of it could not be read, where the client library fails on it; empty for a sound record.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    fault: str = ""

    @property
    def coordinates(self) -> Coordinates:
        return Coordinates(self.topic, self.partition, self.offset, self.timestamp_ms)

    def first(self, name: str) -> bytes | None:
        """The value of the first header of that name; None where there is none or it is null."""
        for header, value in self.headers:
            if header == name:
                return value
        return None

    def last(self, name: str) -> bytes | None:
        """The value of the last header of that name; None where there is none or it is null."""
        for header, value in reversed(self.headers):
            if header == name:
                return value
        return None

    def has(self, name: str) -> bool:
        for header, _ in self.headers:  # noqa: SIM110 - half the time of a generator, several times a record
            if header == name:
                return True
        return False


def from_json_line(line: str | bytes) -> Record:
    """Read `{"topic", "partition", "offset", "timestamp_ms", "key_b64", "value_b64", "headers": [[name, b64|null]]}`.

    Other members are ignored. Raises Malformed with the member that cannot be read.
    """
    try:
        members = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Malformed("line", f"one JSON object ({type(error).__name__})", line) from None
    if not isinstance(members, dict):
        raise Malformed("line", "one JSON object", members)
    return Record(
        topic=_topic(members.get("topic")),
        partition=_number(members, "partition", default=-1),
        offset=_number(members, "offset", default=-1),
        timestamp_ms=_number(members, "timestamp_ms", default=-1),
        key=_bytes("key_b64", members.get("key_b64")),
        value=_bytes("value_b64", members.get("value_b64")),
        headers=_headers(members.get("headers", [])),
    )


def to_json_line(record: Record) -> str:
    """The record as one line of JSON, the inverse of `from_json_line`."""
    return json.dumps(
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp_ms": record.timestamp_ms,
            "key_b64": _b64(record.key),
            "value_b64": _b64(record.value),
            "headers": [[name, _b64(value)] for name, value in record.headers],
        }
    )


def _b64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _topic(topic: object) -> str:
    if not isinstance(topic, str):
        raise Malformed("topic", "a text", topic)
    return topic


def _number(members: Mapping[str, Any], name: str, *, default: int) -> int:
    number = members.get(name)
    if number is None:
        return default
    if not isinstance(number, int) or isinstance(number, bool) or not -INT64 <= number < INT64:
        raise Malformed(name, "a whole number of at most 64 bits", "a huge number" if _huge(number) else number)
    return number


def _huge(number: object) -> bool:
    return isinstance(number, int) and not -INT64 <= number < INT64


def _bytes(where: str, text: object) -> bytes | None:
    if text is None:
        return None
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise Malformed(where, "base64 or null", text)


def _headers(headers: object) -> Headers:
    if not isinstance(headers, list):
        raise Malformed("headers", "a list of [name, base64 or null]", headers)
    return tuple(_header(f"headers[{index}]", header) for index, header in enumerate(headers))


def _header(where: str, header: object) -> tuple[str, bytes | None]:
    if not isinstance(header, list) or len(header) != 2 or not isinstance(header[0], str):
        raise Malformed(where, "[name, base64 or null]", header)
    return header[0], _bytes(where, header[1])
