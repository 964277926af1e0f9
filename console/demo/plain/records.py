"""The dead-letter records that Spring Kafka and Kafka Connect write, byte for byte in their form. Pure.

`spring.json` and `connect.json` hold the headers that the real producers added to synthetic records, in order, repeats
included. Of a text, only what stands in braces is filled in; a number is written as the producer writes it: `int32` and
`int64` big-endian in four and eight bytes, `bigint` (Java's BigInteger) in as few as hold it.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from parking.record import Headers

Value = str | int


def added(producer: str, form: str, values: Mapping[str, Value]) -> Headers:
    """The headers that the producer adds behind the original ones; `form` is a name in the producer's file."""
    return tuple((name, _bytes(value, values)) for name, value in _forms(producer)[form])


@cache
def _forms(producer: str) -> dict[str, list[tuple[str, Any]]]:
    text = (Path(__file__).parent / f"{producer}.json").read_text(encoding="utf-8")
    forms: dict[str, list[tuple[str, Any]]] = json.loads(text)
    return forms


def _bytes(given: Any, values: Mapping[str, Value]) -> bytes:
    if isinstance(given, str):
        return _filled(given, values).encode()
    ((kind, number),) = given.items()
    return NUMBERS[kind](int(values[number]) if isinstance(number, str) else number)


def _filled(text: str, values: Mapping[str, Value]) -> str:
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _smallest(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


NUMBERS: Mapping[str, Callable[[int], bytes]] = {
    "int32": lambda number: number.to_bytes(4, "big", signed=True),
    "int64": lambda number: number.to_bytes(8, "big", signed=True),
    "bigint": _smallest,
}
