"""Events that arrive wrapped, written anew or as a pointer: stored as a replay would send them, and as they came."""

import base64
import json

import pytest

from parking import headers as packed_headers
from parking.coordinates import Coordinates
from parking.fields import unpack
from parking.fingerprint import fingerprint
from parking.intake import pointers
from parking.intake.flows import facts, who
from parking.intake.pointers import ANOTHER
from parking.intake.read import Arrived
from parking.kafka_at import Place
from parking.kafka_in import Fetched
from parking.models import EventState, Quarantine
from parking.models.event import NOT_FETCHED
from parking.record import Record
from parking.wire import Announcement, Wire, announcement
from tests.parking.intake.conftest import NOON, attempt, moved


def envelope(plain, **members):
    told = {"original_topic": "orders", "original_key": "A-1", "error": "closed", **members}
    return plain.record(b"other", json.dumps(told).encode(), [("tag", b"a")])


def stored():
    event = EventState.objects.get()
    return event, event.event, event.payload


def test_an_envelope_is_stored_unwrapped_and_as_it_came(plain):
    arrived = envelope(plain, original_value='{"n": 1.50}')
    plain.store(arrived)
    event, parked, payload = stored()
    assert (bytes(payload.key), bytes(payload.value)) == (b"A-1", b'{"n": 1.50}')
    assert unpack(bytes(payload.wrapped)) == [b"other", arrived.record.value]
    assert bytes(parked.fingerprint) == fingerprint(b"A-1", b'{"n": 1.50}', (("tag", b"a"),))
    assert (bytes(plain.quarantine.hold_key.key), event.kind, parked.not_original) == (b"A-1", "poison", "")


def test_a_value_that_was_written_anew_says_so(plain):
    plain.store(envelope(plain, payload={"n": 1.5}))
    _, parked, payload = stored()
    assert bytes(payload.value) == b'{"n": 1.5}'
    assert "anew" in parked.not_original


def test_what_is_not_wrapped_is_stored_once(plain):
    headers = [("reason_poisoned", b"closed"), ("topic_poisoned", b"orders")]
    plain.store(plain.record(b"k", b"v", headers))
    _, parked, payload = stored()
    assert (bytes(payload.value), payload.wrapped, parked.not_original) == (b"v", None, "")


def test_lambda_s_headers_are_the_event_s(plain):
    inner = {
        "topic": "orders", "partition": 0, "offset": 4, "timestamp": NOON, "headers": [{"tag": [97]}, {"tag": None}],
        "key": base64.b64encode(b"A-1").decode(), "value": None,
    }  # fmt: skip
    told = {"KafkaBatchInfo": {"recordInfo": {"offset": "4"}}, "payload": {"records": {"orders-0": [inner]}}}
    plain.store(plain.record(b"A-1", json.dumps(told).encode(), []))
    event, _, payload = stored()
    assert (bytes(payload.key), payload.value, event.position) == (b"A-1", None, 4)
    assert packed_headers.unpack(payload.headers) == (("tag", b"a"), ("tag", None))


def test_a_healthy_record_with_its_origin_is_no_failure(plain):
    arrived = plain.record(b"k", b"v", [("kafka_topic", b"orders"), ("kafka_offset", b"3")])
    plain.store(moved(arrived, topic="orders-copy"))
    event, parked, _ = stored()
    assert (event.kind, Quarantine.objects.count()) == ("unattributed", 0)
    assert "no error" in parked.unreadable_reason


# Pointers

POINTER = [
    ("__dlq.errors.topic", b"orders"),
    ("__dlq.errors.partition", b"2"),
    ("__dlq.errors.offset", b"17"),
    ("__dlq.errors.group", b"orders-group"),
]
AT = Place("orders", 2, 17)


def source(key=b"A-1", value=b"v", headers=(("tag", b"a"),), timestamp_ms=NOON - 5000):
    return Fetched(Record(*AT, timestamp_ms, key, value, headers))


def pointing(arrived, found):
    return Arrived(arrived.record, arrived.topic, source=found)


def test_a_share_group_s_pointer_names_its_place(plain):
    assert pointers.place_of(plain.record(None, None, POINTER).record) == AT
    assert pointers.place_of(plain.record(b"k", None, POINTER).record) is None  # a tombstone that was copied


def test_a_pointer_is_stored_with_what_it_points_at(plain):
    plain.store(pointing(plain.record(None, None, POINTER), source()))
    _, parked, payload = stored()
    assert (bytes(payload.key), bytes(payload.value)) == (b"A-1", b"v")
    assert packed_headers.unpack(payload.headers) == (("tag", b"a"),)
    assert unpack(bytes(payload.wrapped)) == [None, None]
    assert bytes(parked.fingerprint) == fingerprint(b"A-1", b"v", (("tag", b"a"),))
    assert (bytes(plain.quarantine.hold_key.key), parked.not_original) == (b"A-1", "")
    assert parked.source_at.timestamp() * 1000 == NOON - 5000


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "points"),
        ("The log has no orders/2 offset 17 any more, or not yet.", "any more"),
        (source(timestamp_ms=NOON + 60_000), ANOTHER),
        (Fetched(Record(*AT, NOON, b"k", b"v"), "The headers cannot be read."), "cannot be read"),
    ],
)
def test_a_pointer_to_what_is_not_there_says_why_and_has_no_fingerprint(plain, found, why):
    plain.store(pointing(plain.record(None, None, POINTER), found))
    event, parked, payload = stored()
    assert (event.kind, payload.key, payload.value, bytes(parked.fingerprint)) == ("poison", None, None, b"")
    assert parked.not_original.startswith(NOT_FETCHED)
    assert why in parked.not_original


def native_pointer(lot, headers=(("tag", b"a"),), value=b"large"):
    wire = announcement.encode(
        Announcement(
            kind="poison",
            flow=lot.flow.name,
            event_id="e1",
            position=1,
            fingerprint=fingerprint(b"k", value, headers),
            source=Coordinates(lot.flow.source_topic, 2, 17, NOON),
            key=b"k",
            value=value,
            headers=headers,
            attempts=(attempt(),),
        )
    )
    pointer: Wire = announcement.as_pointer(wire)
    return lot.record(pointer.key, pointer.value, pointer.headers)


def test_a_pointer_of_the_kit_is_checked_against_its_fingerprint(lot):
    arrived = native_pointer(lot)
    assert pointers.place_of(arrived.record) == AT._replace(topic=lot.flow.source_topic)
    lot.store(pointing(arrived, source(b"k", b"large")))
    _, parked, payload = stored()
    assert bytes(payload.value) == b"large"
    assert packed_headers.unpack(payload.headers) == (("tag", b"a"),)
    assert (bytes(parked.fingerprint), parked.not_original) == (fingerprint(b"k", b"large", (("tag", b"a"),)), "")


def test_another_record_at_the_place_of_a_pointer_is_not_taken(lot):
    lot.store(pointing(native_pointer(lot), source(b"k", b"another")))
    _, parked, payload = stored()
    assert payload.value is None
    assert ANOTHER in parked.not_original
    assert bytes(parked.fingerprint) == fingerprint(b"k", b"large", (("tag", b"a"),))


@pytest.mark.usefixtures("kafka_is_away")
def test_a_batch_without_pointers_asks_nobody(plain):
    arrived = [plain.record(b"k", None, []), plain.record(b"k", b"v", POINTER)]
    assert followed_in_vain(plain, arrived) == arrived


@pytest.mark.usefixtures("kafka_is_away")
def test_what_points_outside_the_flow_s_source_topic_is_asked_of_nobody(plain):
    """Whoever writes to a parking topic names any topic: to ask Kafka for it takes its time, for every batch."""
    elsewhere = [("__dlq.errors.topic", b"payroll"), *POINTER[1:]]
    inside, outside = (plain.record(None, None, headers) for headers in (POINTER, elsewhere))
    asked, unasked = followed_in_vain(plain, [inside, outside])
    assert (asked.source is None, unasked) == (False, outside)


def followed_in_vain(plain, arrived):
    flows = {plain.topic.pk: who(plain.flow.parking_topic, [facts(plain.flow)])}
    return pointers.followed(arrived, flows, {"bootstrap.servers": "127.0.0.1:1"})
