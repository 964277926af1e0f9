"""Reads what a pointer points at from the source topic, while it has it: for an event that intake could not fetch."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db import transaction

from parking import headers as packed
from parking import journal, kafka_at
from parking.actor import Actor
from parking.dialects import Reading, identify
from parking.errors import Refused
from parking.fields import pack
from parking.fingerprint import fingerprint
from parking.intake import pointers
from parking.kafka_at import Found, Place
from parking.models import EventPayload, EventState, ParkedEvent
from parking.models.event import NOT_FETCHED
from parking.record import Record

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS = 10.0
PIECES = ("event__cluster", "payload", "flow")


def fetch(*, event_state_id: int, actor: Actor) -> None:
    """Store key, value and headers of the event as they stand in its source topic; what was parked stays as it came.

    Its hold key stays as it is. Raises Refused if the event is no pointer, is settled, or what it points at is not
    there, is another record, or cannot be read now.
    """
    event = EventState.objects.select_related(*PIECES).get(pk=event_state_id)
    place = _place(event)
    found = kafka_at.read(event.event.cluster.client_settings, [place], seconds=SECONDS)[place]
    _take(event, place, found, actor)


def fetch_each(events: Sequence[EventState], *, seconds: float, actor: Actor) -> int:
    """The same for several of one cluster, selected with their PIECES; how many of them have their bytes now.

    Kafka is asked once, for at most so many seconds. What is not there stays as it is.
    """
    places = {event: place for event in events if (place := _place_of(event)) is not None}
    if not places:
        return 0
    found = kafka_at.read(events[0].event.cluster.client_settings, set(places.values()), seconds=seconds)
    return sum(_taken(event, place, found[place], actor) for event, place in places.items())


def _place(event: EventState) -> Place:
    """Where its key and value stand. Raises Refused if they are not to be read there."""
    record = _record(event)
    place = pointers.place_of(record) if event.event.to_be_fetched else None
    if place is None:
        raise Refused("This event has its key and value, or does not say where they are: there is nothing to fetch.")
    if not pointers.is_for(event.flow.source_topic, identify(record)):
        raise Refused(pointers.ELSEWHERE)
    return place


def _place_of(event: EventState) -> Place | None:
    try:
        return _place(event)
    except Refused:
        return None


def _taken(event: EventState, place: Place, found: Found, actor: Actor) -> bool:
    try:
        _take(event, place, found, actor)
    except Refused:
        return False
    return True


def _take(event: EventState, place: Place, found: Found, actor: Actor) -> None:
    record = _record(event)
    reading = pointers.joined(identify(record), record, found)
    if reading.payload_missing:
        raise Refused(reading.not_original.removeprefix(NOT_FETCHED).strip())
    with transaction.atomic():
        _still_to_fetch(event.pk)
        _store(event, record, reading)
        journal.write(
            actor=actor,
            verb="fetch",
            flow=event.flow,
            quarantine_id=event.quarantine_id,
            event_id=event.pk,
            detail={"topic": place.topic, "partition": place.partition, "offset": place.offset},
        )


def _record(event: EventState) -> Record:
    """The parking record, as intake had it."""
    payload, parked = event.payload, event.event
    return Record(
        topic=parked.parking_topic,
        partition=parked.parking_partition,
        offset=parked.parking_offset,
        timestamp_ms=(parked.parked_at - EPOCH) // timedelta(milliseconds=1),
        key=None if payload.key is None else bytes(payload.key),
        value=None if payload.value is None else bytes(payload.value),
        headers=packed.unpack(payload.raw_headers),
    )


def _still_to_fetch(event_state_id: int) -> None:
    event = EventState.objects.select_for_update(of=("self",)).select_related("event").get(pk=event_state_id)
    if event.state != EventState.State.PARKED or not event.event.to_be_fetched:
        raise Refused("Somebody else fetched or settled the event meanwhile: look at it again.")


def _store(event: EventState, record: Record, reading: Reading) -> None:
    key, value = reading.content(record)
    at = reading.source_timestamp_ms
    EventPayload.objects.filter(pk=event.pk, stored_at=event.stored_at).update(
        key=key,
        value=value,
        headers=packed.pack(reading.original_headers),
        wrapped=pack([record.key, record.value]),
    )
    ParkedEvent.objects.filter(pk=event.pk, stored_at=event.stored_at).update(
        fingerprint=fingerprint(key, value, reading.original_headers),
        not_original=reading.not_original,
        source_at=event.event.source_at if at is None else EPOCH + timedelta(milliseconds=at),
    )
