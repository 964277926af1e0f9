"""From a message of confluent-kafka to a record."""

from operator import methodcaller
from typing import cast

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from parking.record import Headers, Record

_call_headers = methodcaller("headers")
"""For a name that is not UTF-8 confluent-kafka returns a list and sets an exception, too. `message.headers()` may not
notice: once CPython has specialised that call, the exception comes up anywhere later, outside every `try` around it."""


def record(message: Message) -> Record:
    """The record as it arrived: bytes, ordered headers, nulls and repeats."""
    timestamp = message.timestamp()
    headers, fault = _headers(message)
    return Record(
        topic=message.topic() or "",
        partition=_number(message.partition()),
        offset=_number(message.offset()),
        timestamp_ms=-1 if timestamp[0] == TIMESTAMP_NOT_AVAILABLE else timestamp[1],
        key=_bytes(message.key()),
        value=_bytes(message.value()),
        headers=headers,
        fault=fault,
    )


def _headers(message: Message) -> tuple[Headers, str]:
    """confluent-kafka gives none of the headers, and a SystemError, where one name is not UTF-8."""
    try:
        headers = cast("Headers", _call_headers(message) or ())
    except (SystemError, UnicodeDecodeError):
        return (), "the headers cannot be read: a name is not UTF-8"
    return tuple((name, _bytes(value)) for name, value in headers), ""


def _number(number: int | None) -> int:
    return -1 if number is None else number


def _bytes(data: bytes | str | None) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
