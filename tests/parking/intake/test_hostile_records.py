"""Records that no well-behaved producer sends, on Apache Kafka: none takes another with it, and no byte is dropped."""

import time

import pytest

from parking import headers as packed_headers
from parking.kafka_in import Reader
from parking.models import EventState, IntakePosition, ParkedRecord

from .conftest import attempt, value_of
from .raw_producer import Raw, produce
from .test_kafka import declared, lot_of, send, until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]
ANY_TIME = {"message.timestamp.before.max.ms": str(2**63 - 1), "message.timestamp.after.max.ms": str(2**63 - 1)}
YEAR_0, YEAR_300_000 = -62_167_219_200_000, 9_404_868_355_200_000


@pytest.fixture
def flow(make_topic, transactional_db):
    topic = make_topic("hostile", **ANY_TIME, **{"max.message.bytes": "20000000"})
    return declared(topic)


def read_to(count):
    return lambda: IntakePosition.objects.filter(next_offset=count).exists() and ParkedRecord.objects.count() == count


def dead_letter(*more, key=b"k", value=b"v", **given):
    """In no dialect: kept raw, in no key."""
    return Raw(key, value, more, **given)


def by_offset():
    return {state.event.parking_offset: state for state in EventState.objects.select_related("event")}


def test_header_names_that_are_not_utf8(flow, intake, kafka):
    """Many, so that CPython specialises the call that fails."""
    lot = lot_of(flow)
    for number in range(30):
        send(flow, lot.poison(f"e{number}", number, key=b"%d" % number))
        produce(kafka, flow.parking_topic, dead_letter((b"ok", b"1"), (b"\xff\xfe", b"2"), key=b"%d" % number))
    until(read_to(60), intake)
    assert EventState.objects.filter(kind="poison").count() == 30
    for state in EventState.objects.filter(kind="broken"):
        assert "a name is not UTF-8" in state.event.unreadable_reason
        assert (bytes(state.payload.key or b""), value_of(state), state.quarantine) == (
            b"%d" % (state.event.parking_offset // 2),
            b"v",
            None,
        )


def test_header_names_with_a_nul(flow, intake, kafka):
    """The client cuts them there: where a fingerprint or an empty name tells, it is said."""
    lot = lot_of(flow)
    parked = lot.poison("e1", 1, headers=(("name", b"1"),)).record
    headers = [(b"na\0me" if name == "name" else name.encode(), value) for name, value in parked.headers]
    produce(kafka, flow.parking_topic, Raw(parked.key, parked.value, headers), dead_letter((b"\0name", b"1")))
    until(read_to(2), intake)
    first, second = by_offset()[0], by_offset()[1]
    assert "not those that the consumer took the fingerprint of" in first.event.unreadable_reason
    assert "the client cuts names there" in second.event.not_original
    assert first.event.not_original
    assert packed_headers.unpack(second.payload.headers) == (("", b"1"),)


def test_nul_bytes_everywhere(flow, intake, kafka):
    """Case ING-01, through Kafka."""
    lot = lot_of(flow)
    headers = (("a", b"\0"), ("b", b"\0" * 1000))
    send(
        flow,
        lot.poison("e\0", 1, key=b"k\0", value=b"\0v\0", headers=headers, attempts=(attempt(1, "T\0", "m\0"),)),
        lot.record(b"\0", b"\0", [("h", b"\0")]),
    )
    until(read_to(2), intake)
    first, second = by_offset()[0], by_offset()[1]
    assert (bytes(first.payload.key), value_of(first)) == (b"k\0", b"\0v\0")
    assert packed_headers.unpack(first.payload.headers) == headers
    assert (bytes(second.payload.key), value_of(second)) == (b"\0", b"\0")


def test_times_that_no_clock_says(flow, intake, kafka):
    times = (-1, YEAR_0, YEAR_300_000, 2**63 - 1, -(2**63) + 1, 0)
    produce(kafka, flow.parking_topic, *(dead_letter(timestamp=at) for at in times))
    lot = lot_of(flow)
    parked = lot.poison("e1", 1).record
    headers = [(name.encode(), value) for name, value in parked.headers]
    produce(kafka, flow.parking_topic, *(Raw(parked.key, parked.value, headers, timestamp=at) for at in times))
    began = time.time()
    until(read_to(12), intake)
    for state in EventState.objects.select_related("event"):
        assert abs(state.event.parked_at.timestamp() - began) < 3600
    assert EventState.objects.filter(kind="poison").count() == 1


def test_empty_and_null_keys_and_values(flow, intake, kafka):
    given = [(b"", b""), (b"", None), (None, b""), (None, None)]
    produce(kafka, flow.parking_topic, *(Raw(key, value) for key, value in given))
    until(read_to(4), intake)
    found = by_offset()
    for offset, (key, value) in enumerate(given):
        payload = found[offset].payload
        assert (None if payload.key is None else bytes(payload.key)) == key
        assert (None if payload.value is None else bytes(payload.value)) == value


def test_tombstones_keep_their_place_in_the_key(flow, intake):
    lot = lot_of(flow)
    send(flow, lot.poison("e1", 1, value=None), lot.held("e2", 2, value=b"{}"), lot.held("e3", 3, value=None))
    until(read_to(3), intake)
    assert [(e.event.event_id, value_of(e)) for e in EventState.objects.order_by("position")] == [
        ("e1", None),
        ("e2", b"{}"),
        ("e3", None),
    ]


@pytest.mark.slow
def test_a_hundred_thousand_headers_and_keys_of_100_kb(flow, intake, kafka):
    lot = lot_of(flow)
    many = [(b"h", b"")] * 100_000
    produce(kafka, flow.parking_topic, dead_letter(*many), Raw(b"k" * 100_000, b"v"), Raw(b"k" * 100_000 + b"1", b"v"))
    send(flow, lot.poison("e1", 1, key=b"q" * 100_000), lot.poison("e2", 2, key=b"q" * 100_001))
    until(read_to(5), intake)
    found = by_offset()
    assert len(packed_headers.unpack(found[0].payload.headers)) == 100_000
    assert bytes(found[1].payload.key) == b"k" * 100_000
    assert found[3].quarantine_id != found[4].quarantine_id


def test_what_was_fetched_beyond_the_bound_comes_with_the_next_poll(flow, kafka):
    produce(kafka, flow.parking_topic, *(dead_letter(*[(b"h", b"")] * 50_000) for _ in range(10)), dead_letter())
    reader = Reader({"bootstrap.servers": kafka})
    try:
        reader.assign({(flow.parking_topic, 0): 0})
        polls: list[list[int]] = []
        end = time.monotonic() + 120
        while sum(map(len, polls)) < 11 and time.monotonic() < end:
            polls.append([one.record.offset for one in reader.poll(most=2000, timeout=1)])
        assert [offset for poll in polls for offset in poll] == list(range(11))
        assert max(map(len, polls)) <= 6
    finally:
        reader.close()
