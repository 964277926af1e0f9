"""Share groups, KIP-1191 (dlq formats, §3.6): text headers of the broker's; the draft had one underscore in front.

There is no exception. By default key and value are left out: the record points at the one in the source topic.
"""

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, firsts, text
from parking.record import Headers

_PREFIXES = "__dlq.errors.", "_dlq.errors."
_SOURCES = tuple(origin.named(prefix) for prefix in _PREFIXES)
_POINTER = "It points at its event in the source topic, which has the headers too."
_NO_HEADERS = "The broker leaves the event's headers out."


def read(found: Found) -> Reading:
    record = found.record
    newest = found.newest
    source = _source(newest[0][0]) or _SOURCES[0]
    prefix = source.topic.removesuffix("topic")
    value = firsts(newest).get
    pointer = record.key is None and record.value is None
    return found.reading(
        source.at(newest),
        consumer_group=text(value(f"{prefix}group")),
        attempts=decimal(value(f"{prefix}delivery.count")),
        payload_missing=pointer,
        not_original=_POINTER if pointer else _NO_HEADERS if found.layout.original == () else "",
        **java.fields([], text(value(f"{prefix}message")), None),
    )


def _oldest(headers: Headers) -> origin.Position | None:
    place = next((place for place, (name, _) in enumerate(headers) if _source(name)), None)
    named = None if place is None else _source(headers[place][0])
    return named.first(headers) if named else None


FAMILY = Family(
    "share-group",
    read,
    headers=tuple(f"{prefix}*" for prefix in _PREFIXES),
    begins=tuple(source.topic for source in _SOURCES),
    oldest=_oldest,
)


def _source(name: str) -> origin.Named | None:
    return next((source for source in _SOURCES if source.topic == name), None)
