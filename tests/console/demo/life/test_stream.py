"""What benchmarks are fed with is what real producers write: read in full, with the keys and errors promised."""

import time
from collections import Counter

import pytest

from console.demo.life import stream
from parking.dialects import identify
from parking.error_group import group
from parking.fingerprint import fingerprint
from parking.record import Record
from parking.wire import announcement

AT = 1_764_000_000_000
MANY = 20_000


def records(producer, count, **given):
    wires = stream.wires(producer, count, flow="shop", at_ms=AT, **given)
    return [Record("shop.parking", 0, n, AT + n, *wire) for n, wire in enumerate(wires)]


@pytest.mark.parametrize(
    ("producer", "framework"), [("native", "siding"), ("spring", "spring-kafka"), ("connect", "kafka-connect")]
)
def test_each_record_is_read_in_full(producer, framework):
    for n, record in enumerate(records(producer, 500)):
        reading = identify(record)
        assert (reading.framework, reading.kind, reading.doubts) == (framework, "dead_letter", ())
        assert (reading.source_topic, reading.source_offset) == ("shop", n)
        assert reading.consumer_group == stream.group(producer, "shop")
        assert reading.event_id == dict(record.headers)["event-id"].decode()
        assert stream.NUMBER not in str(record)


def test_a_native_record_has_the_fingerprint_that_its_consumer_would_have_computed():
    for record in records("native", 500):
        told = announcement.decode(record)
        assert told.fingerprint == fingerprint(record.key, record.value, told.headers)
        assert len(told.headers) == 10
        assert (told.kind == "held") == (told.blocked_by is not None) == (told.attempts == ())


@pytest.mark.parametrize("producer", ["native", "spring", "connect"])
def test_sixty_shapes_of_errors_and_keys_with_a_long_tail(producer):
    found = records(producer, MANY)
    readings = [identify(record) for record in found]
    failed = [one for one in readings if one.error_class]
    assert len({group(one.error_class, one.error_message).digest for one in failed}) == stream.SHAPES
    assert len({one.event_id for one in readings}) == MANY
    of_key = Counter(record.key for record in found)
    assert 4_000 < len(of_key) <= stream.KEYS
    assert MANY / 14 < of_key.most_common(1)[0][1] < MANY / 7
    size = sum(len(one.key + one.value) + sum(len(n) + len(v or b"") for n, v in one.headers) for one in found) / MANY
    assert 900 < size < 1_700


def test_a_key_begins_with_a_poison_event():
    seen = set()
    for record in records("native", MANY):
        told = announcement.decode(record)
        assert told.kind == "poison" or record.key in seen
        seen.add(record.key)


def test_the_same_seed_makes_the_same_records():
    assert records("spring", 50) == records("spring", 50) != records("spring", 50, seed=2)


def test_it_costs_little():
    """Far below what intake takes for one: 30 microseconds are asked for, and this machine may be busy."""
    began = time.thread_time()
    assert sum(1 for _ in stream.wires("native", MANY, flow="shop", at_ms=AT)) == MANY
    assert (time.thread_time() - began) / MANY < 90e-6
