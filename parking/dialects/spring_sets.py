"""The sets of headers that Spring for Apache Kafka adds to a failure, under the names of either of its families."""

from typing import NamedTuple

from parking.dialects.identity import CARRIED
from parking.dialects.origin import Position
from parking.dialects.values import first, int32, int64, last, text
from parking.record import Headers

_OF_A_FAILURE = (
    "kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-",
    "kafka_original-", "kafka_exception-", "kafka_key-exception-", "retry_topic-", "springDeserializerException",
)  # fmt: skip
_OF_THE_LISTENER = ("kafka_deliveryAttempt", "kafka_listenerInfo")
"""Added to what a listener is given, each time anew."""


class Names(NamedTuple):
    """How the headers of one family begin."""

    original: str
    exception: str
    key_exception: str

    @property
    def cause(self) -> str:
        """Shared by the exceptions of key and value."""
        return f"{self.exception}cause-fqcn"


class Why(NamedTuple):
    """`classes`: the class that was thrown, then its cause."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


def exception(headers: Headers, names: Names) -> Why:
    """The exception that was written last: of the key or of the value."""
    prefix = _exception_prefix(headers, names)
    headers = _from_last(headers, f"{prefix}fqcn")
    return Why(
        [text(last(headers, f"{prefix}fqcn")), text(last(headers, names.cause))],
        text(last(headers, f"{prefix}message")),
        text(last(headers, f"{prefix}stacktrace")),
    )


def source(original: Headers, names: Names) -> Position:
    """The position in an original set."""
    return Position(
        text(first(original, f"{names.original}topic")) or "",
        int32(first(original, f"{names.original}partition")),
        int64(first(original, f"{names.original}offset")),
        int64(first(original, f"{names.original}timestamp")),
    )


def failure_header(name: str) -> bool:
    return name.startswith(_OF_A_FAILURE) or name in _OF_THE_LISTENER


def without_failure(headers: Headers) -> Headers:
    """What the consumer had been given, as far as can be told: a kept failure header would mislead the next one."""
    return tuple(header for header in headers if not failure_header(header[0]) and header[0] not in CARRIED)


def _exception_prefix(headers: Headers, names: Names) -> str:
    """Of key and value, whose failure was written last; the value's where neither was."""
    for name, _ in reversed(headers):
        if name.startswith(names.key_exception):
            return names.key_exception
        if name.startswith(names.exception) and name != names.cause:
            return names.exception
    return names.exception


def _from_last(headers: Headers, name: str) -> Headers:
    """From the last header of that name on; all where there is none."""
    places = (place for place in range(len(headers) - 1, -1, -1) if headers[place][0] == name)
    return headers[next(places, 0) :]
