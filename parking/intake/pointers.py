"""Records that only point at their event: key, value and headers are read from the source topic while it has them.

Share groups write such pointers by default (KIP-1191), the consumer kit for what is too large. What cannot be read now
is stored as a pointer, says why, and can be fetched later (`parking.fetch`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from parking import kafka_at
from parking.dialects import Reading, Unreadable, identify
from parking.fingerprint import of_packed
from parking.headers import pack
from parking.intake.flows import Flows
from parking.kafka_at import Found, Place
from parking.kafka_in import Fetched
from parking.models.event import NOT_FETCHED
from parking.record import Record
from parking.wire import Announcement

if TYPE_CHECKING:
    from parking.intake.read import Arrived

ANOTHER = "What stands there now is another record."
ELSEWHERE = "It points into a topic that is not the flow's source topic: what stands there is not for this flow to see."
SECONDS = 5.0
"""For the pointers of one batch: intake waits no longer for a source topic."""


def followed(arrived: Sequence["Arrived"], flows: Mapping[int, Flows], settings: Mapping[str, Any]) -> list["Arrived"]:
    """The records, with what those that point elsewhere point at. `flows`: id of the TopicIncarnation → its flows.

    Asks Kafka only where there are such, and only of source topics of these flows: a record names whatever it likes.
    """
    places = {
        one.place: at
        for one in arrived
        if one.record.value is None
        and (at := place_of(one.record)) is not None
        and at.topic in flows[one.topic].source_topics
    }
    if not places:
        return list(arrived)
    found = kafka_at.read(settings, set(places.values()), seconds=SECONDS)
    return [replace(one, source=found[places[one.place]]) if one.place in places else one for one in arrived]


def place_of(record: Record) -> Place | None:
    """Where the event of a record stands whose key and value are left out; None where it does not say."""
    try:
        reading = identify(record)
    except Unreadable:
        return None
    if not reading.payload_missing or reading.source_topic is None:
        return None
    partition, offset = reading.source_partition, reading.source_offset
    return None if partition is None or offset is None else Place(reading.source_topic, partition, offset)


def is_for(source_topic: str | None, reading: Reading) -> bool:
    """Whether a flow with this source topic may see what the record points at: whoever writes to its parking topic can
    name any topic of the cluster, and Siding may read those of all teams.
    """
    return source_topic is not None and reading.source_topic == source_topic


def joined(reading: Reading, record: Record, found: Found | None) -> Reading:
    """The reading of a pointer with what it points at; else with why key and value are not there."""
    if not reading.payload_missing:
        return reading
    why = _why_not(reading, record, found)
    if why or not isinstance(found, Fetched):
        return replace(reading, not_original=" ".join(filter(None, (NOT_FETCHED, why or reading.not_original))))
    source = found.record
    return replace(
        reading,
        unwrapped=(source.key, source.value),
        original_headers=source.headers,
        packed_headers=None,
        source=reading.source._replace(timestamp_ms=source.timestamp_ms if source.timestamp_ms >= 0 else None),
        payload_missing=False,
        not_original=found.doubt,
    )


def _why_not(reading: Reading, record: Record, found: Found | None) -> str:
    """Why it is not what the pointer points at; empty where it is, as far as can be told."""
    if not isinstance(found, Fetched):
        return found or ""
    source = found.record
    if found.fault:
        return found.fault
    if isinstance(reading.wire, Announcement):
        same = of_packed(source.key, source.value, pack(source.headers)) == reading.wire.fingerprint
        return "" if same else ANOTHER
    return ANOTHER if 0 <= record.timestamp_ms < source.timestamp_ms else ""
