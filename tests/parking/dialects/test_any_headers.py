"""Whatever stands in the headers, in the key or in the value: a record is read, and nothing of it is made up."""

import json
import time
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parking.dialects import Unreadable, identify
from parking.dialects.reading import DEAD_LETTER, OUTCOME, RETRY_PENDING, UNKNOWN
from parking.dialects.table import FAMILIES
from parking.record import INT64, Record
from tests.parking.dialects.sets import PRODUCERS
from tests.parking.dialects.test_vectors import SAMPLES, _headers

TOPICS = [
    "orders", "orders-dlt", "orders.DLT", "orders-retry-0", "error.orders.billing", "dead-letter-topic-orders",
    "orders_retry_600", "orders.retry.30s", "x__dlq", "error-responses", "success-responses", "",
]  # fmt: skip
NAMED = sorted({name.replace("*", "x") for family in FAMILIES for name in (*family.headers, *family.also)})
SEEN = sorted({name for sample in SAMPLES for name, _ in _headers(sample)})
VALUES = sorted({value for sample in SAMPLES for _, value in _headers(sample) if value and len(value) < 300})
WHOLE = [
    *((sample["topic"], _headers(sample)) for sample in SAMPLES if sample["headers"]),
    *(("orders-dlt", adds((), "orders")) for adds in PRODUCERS.values()),  # the samples are not beside each checkout
]
ADDED = [headers for adds in PRODUCERS.values() for headers in (adds((), "a"), adds(adds((), "b"), "a"))]

name = st.sampled_from(NAMED + SEEN) | st.text(max_size=12)
value = (
    st.none() | st.binary(max_size=20) | st.sampled_from(VALUES or [b"7"]) | st.integers(0, 2**63).map(b"%d".__mod__)
)
some = st.lists(st.tuples(name, value), max_size=6)
pieces = st.lists(some | st.sampled_from(ADDED).flatmap(lambda whole: st.permutations(list(whole))), max_size=3)
body = st.none() | st.binary(max_size=40) | st.sampled_from([b"{}", b'"e30="', b'{"KafkaBatchInfo":[]}', b"\0" * 9])


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(TOPICS), pieces, body, body, st.integers(-1, 2**62))
def test_nothing_raises_and_nothing_is_made_up(topic, parts, key, content, timestamp):
    record = Record(topic, 3, 40, timestamp, key, content, tuple(chain.from_iterable(parts)))
    try:
        reading = identify(record)
    except Unreadable:
        assert record.has("siding-version")
        return
    shown = reading.shown()
    json.dumps(shown)
    assert reading.kind in (DEAD_LETTER, RETRY_PENDING, UNKNOWN, OUTCOME)
    assert reading.event_id
    for field, told in shown.items():
        if isinstance(told, int) and not isinstance(told, bool):
            assert 0 <= told < INT64, field
        assert told != "" or field == "not_original", field
    kept = iter(record.headers)
    assert all(header in kept for header in reading.original_headers)


HOW = ("null", "cut", "empty", "twice", "gone", "grown")


def _broken(how: str, header: str, told: bytes | None) -> list[tuple[str, bytes | None]]:
    instead: dict[str, list[tuple[str, bytes | None]]] = {
        "null": [(header, None)],
        "cut": [(header, (told or b"")[:-1])],
        "empty": [(header, b"")],
        "twice": [(header, told), (header, told)],
        "gone": [],
        "grown": [(header, (told or b"") + b"\xff")],
    }
    return instead[how]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(WHOLE), st.data())
def test_a_sample_with_one_header_broken_is_still_read(sample, data):
    """A header that is null, cut, doubled or gone takes its own field with it, never the record."""
    topic, whole = sample
    headers = list(whole)
    place = data.draw(st.integers(0, len(headers) - 1))
    headers[place : place + 1] = _broken(data.draw(st.sampled_from(HOW)), *headers[place])
    assert identify(Record(topic, 0, 1, 2, b"k", b"v", tuple(headers))).event_id


@pytest.mark.parametrize("producer", PRODUCERS)
def test_a_hundred_thousand_headers_are_read_in_a_moment(producer):
    sets = PRODUCERS[producer]((), "a")
    many = tuple((name, value) for _ in range(50_000 // len(sets)) for name, value in sets)
    user = tuple((f"x-{number}", b"v") for number in range(50_000))
    begun = time.thread_time()
    reading = identify(Record("orders-dlt", 0, 1, 2, b"k", b"v", (*many, *user)))
    assert time.thread_time() - begun < 2
    assert (reading.framework, reading.source_topic) == (producer, "a")
    assert reading.original_headers == user
