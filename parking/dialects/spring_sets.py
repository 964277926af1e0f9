"""The sets of headers that Spring for Apache Kafka adds to a failure, under the names of either of its families."""

from typing import NamedTuple

from parking.dialects.origin import BINARY, Named, named
from parking.dialects.values import lasts, text
from parking.record import Headers

GROUP = "kafka_dlt-original-consumer-group"
"""Written by both families: it tells neither."""

ALSO = (GROUP, "kafka_deliveryAttempt", "kafka_listenerInfo", "springDeserializerException*")
"""What either family may add beside its sets; the listener's are added to what it is given, each time anew."""


class Names(NamedTuple):
    """How the headers of one family are called."""

    original: Named
    value: tuple[str, str, str]
    key: tuple[str, str, str]
    cause: str
    """Shared by the exceptions of key and value."""


def names(original: str, exception: str, key_exception: str) -> Names:
    """The names that begin so."""
    suffixes = ("fqcn", "message", "stacktrace")
    fqcn, message, stack = (exception + suffix for suffix in suffixes)
    key_fqcn, key_message, key_stack = (key_exception + suffix for suffix in suffixes)
    return Names(
        named(original, BINARY, timed=True),
        (fqcn, message, stack),
        (key_fqcn, key_message, key_stack),
        f"{exception}cause-fqcn",
    )


class Why(NamedTuple):
    """`classes`: the class that was thrown, then its cause."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


def exception(headers: Headers, names: Names) -> Why:
    """The exception that was written last: of the key or of the value."""
    places = {name: place for place, (name, _) in enumerate(headers)}
    of_key = max(places.get(name, -1) for name in names.key) > max(places.get(name, -1) for name in names.value)
    fqcn, message, stacktrace = names.key if of_key else names.value
    value = lasts(headers[places.get(fqcn, 0) :]).get
    return Why([text(value(fqcn)), text(value(names.cause))], text(value(message)), text(value(stacktrace)))
