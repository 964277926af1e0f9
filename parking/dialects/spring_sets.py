"""The sets of headers that Spring for Apache Kafka adds to a failure, under the names of either of its families."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from parking.dialects.origin import BINARY, Named, named
from parking.dialects.values import text

if TYPE_CHECKING:
    from parking.dialects.family import Found
    from parking.dialects.layout import Layout

GROUP = "kafka_dlt-original-consumer-group"
"""Written by both families: it tells neither."""

ALSO = (GROUP, "kafka_deliveryAttempt", "kafka_listenerInfo", "springDeserializerException*")
"""What either family may add beside its sets; the listener's are added to what it is given, each time anew."""


class Thrown(NamedTuple):
    """`classes`: the class that was thrown, then its cause."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


@dataclass(frozen=True, eq=False)
class Names:
    """How the headers of one family are called."""

    original: Named
    value: tuple[str, str, str]
    key: tuple[str, str, str]
    cause: str
    """Shared by the exceptions of key and value."""

    def thrown(self, found: "Found") -> Thrown:
        """The exception that was written last: of the key or of the value."""
        headers = found.record.headers
        fqcn, cause, message, stacktrace = (
            None if place is None else text(headers[place][1]) for place in found.layout.once(self._places)
        )
        return Thrown([fqcn, cause], message, stacktrace)

    def _places(self, layout: "Layout") -> tuple[int | None, ...]:
        """Where its class, cause, message and stack trace stand: nothing in front of the class belongs to it."""
        lasts = {name: place for name, place in layout.lasts.items() if place >= layout.before}
        of_key = max(lasts.get(name, -1) for name in self.key) > max(lasts.get(name, -1) for name in self.value)
        fqcn, message, stacktrace = self.key if of_key else self.value
        begin = lasts.get(fqcn, -1)
        places = (lasts.get(name, -1) for name in (fqcn, self.cause, message, stacktrace))
        return tuple(place if place >= max(begin, 0) else None for place in places)


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
