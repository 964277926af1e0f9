"""When an event that waits is tried again: what its family writes, or the delay at the end of its topic's name."""

import json

import pytest

from parking.dialects import identify, topics
from tests.parking.dialects.sets import delayed, record, wolverine

CAME = 1_796_000_000_000


@pytest.mark.parametrize(
    ("topic", "delay"),
    [
        ("orders_retry_600", 600), ("orders.retry.30s", 30_000), ("orders.retry.5m", 300_000),
        ("orders.retry.1h", 3_600_000), ("orders-retry-250ms", 250), ("orders", None), ("orders_retry", None),
        ("orders.retry.9x", None),
    ],
)  # fmt: skip
def test_a_delay_at_the_end_of_a_topic_s_name(topic, delay):
    assert topics.due_ms(topic, CAME) == (None if delay is None else CAME + delay)
    assert topics.due_ms(topic, -1) is None


def test_a_delay_beyond_all_times_is_none():
    assert topics.due_ms("orders_retry_999999999999", 2**63 - 5) is None


def test_smallrye_s_delay_stands_in_the_name_of_the_retry_topic():
    waits, dead = record(delayed((), "a"), "orders_retry_600"), record(delayed((), "a"), "orders-dlq")
    assert identify(waits).due_at_ms == waits.timestamp_ms + 600
    assert identify(dead).due_at_ms is None


def test_wolverine_s_delay_stands_in_the_name_of_the_tier():
    tier = (("wolverine-kafka-retry-source", b"orders"), ("wolverine-kafka-retry-attempt", b"2"))
    waits = record((*wolverine((), "a"), *tier), "orders.retry.30s")
    assert identify(waits).due_at_ms == waits.timestamp_ms + 30_000
    assert identify(record(wolverine((), "a"), "wolverine-dead-letter-queue")).due_at_ms is None


def test_watermill_writes_the_time():
    headers = [("reason_poisoned", b"closed"), ("_watermill_delayed_until", b"2026-11-30T12:00:30Z")]
    assert identify(record(headers, "poison")).due_at_ms == 1_796_040_030_000
    assert identify(record([headers[0], ("_watermill_delayed_until", b"soon")], "poison")).due_at_ms is None


@pytest.mark.parametrize(("delay", "due"), [([{"delay": 5000}], 5000), ([{"delay": -1}], None), ({}, None)])
def test_symfony_writes_the_delay(delay, due):
    prefix = "X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\"
    again = json.dumps([{"retryCount": 1}]).encode()
    headers = [(f"{prefix}RedeliveryStamp", again), (f"{prefix}DelayStamp", json.dumps(delay).encode())]
    waits = record(headers, "orders-retry")
    assert identify(waits).due_at_ms == (None if due is None else waits.timestamp_ms + due)
    assert identify(record(headers, "orders-dlq")).due_at_ms is None
