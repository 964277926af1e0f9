"""Share groups, KIP-1191 (dlq formats, §3.6): text headers of the broker's; the draft had one underscore in front.

There is no exception. By default key and value are left out: the record points at the one in the source topic.
"""

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_PREFIXES = "__dlq.errors.", "_dlq.errors."
_SOURCES = tuple(origin.named(prefix) for prefix in _PREFIXES)
_POINTER = "It points at its event in the source topic, which has the headers too."
_NO_HEADERS = "The broker leaves the event's headers out."


def read(found: Found) -> Reading:
    record = found.record
    layout, value = found.layout, found.newest
    source = _source(layout.names[layout.cut if layout.begin is None else layout.begin]) or _SOURCES[0]
    prefix = source.topic.removesuffix("topic")
    pointer = record.key is None and record.value is None
    return found.reading(
        source.newest(found),
        consumer_group=text(value(f"{prefix}group")),
        attempts=decimal(value(f"{prefix}delivery.count")),
        payload_missing=pointer,
        not_original=_POINTER if pointer else _NO_HEADERS if layout.original == () else "",
        why=java.why([], text(value(f"{prefix}message")), None),
    )


def _oldest(found: Found) -> origin.Position | None:
    firsts = found.layout.firsts
    told = [source for source in _SOURCES if source.topic in firsts]
    return min(told, key=lambda source: firsts[source.topic]).first(found) if told else None


FAMILY = Family(
    "share-group",
    read,
    headers=tuple(f"{prefix}*" for prefix in _PREFIXES),
    begins=tuple(source.topic for source in _SOURCES),
    oldest=_oldest,
)


def _source(name: str) -> origin.Named | None:
    return next((source for source in _SOURCES if source.topic == name), None)
