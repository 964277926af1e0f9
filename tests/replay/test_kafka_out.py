"""Records leave in order, to the chosen partition, with exactly their bytes; or it is known that they did not."""

import time

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from parking.models import Cluster
from parking.partitioner import partition
from parking.wire import Wire
from replay.kafka_out import Outgoing, produce, size

MEGABYTE = 1_048_588


def cluster(kafka: str, **settings: object) -> Cluster:
    return Cluster(name="test", bootstrap_servers=kafka, settings=settings)


def read_all(kafka: str, topic: str, expected: int, partitions: int = 1):
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "reader", "fetch.message.max.bytes": 8_000_000})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    records: list[Message] = []
    until = time.monotonic() + 60
    while len(records) < expected and time.monotonic() < until:
        records += [message for message in consumer.consume(500, 0.2) if message.error() is None]
    records += [message for message in consumer.consume(10, 0.3) if message.error() is None]  # nothing more
    consumer.close()
    return records


def written(kafka: str, topic: str) -> int:
    """How many records the topic's only partition has."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "reader"})
    _, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60)
    consumer.close()
    return int(high)


def test_500_records_through_a_queue_of_10_arrive_in_order_and_none_is_skipped(kafka, make_topic):
    topic = make_topic("replay")
    records = [Outgoing(Wire(b"k", b"%d" % number, ()), 0) for number in range(500)]
    small = cluster(kafka, **{"queue.buffering.max.messages": 10})
    deliveries = produce(small, topic, records, largest=MEGABYTE, seconds=60)
    assert all(one.acked for one in deliveries)
    assert [int(message.value()) for message in read_all(kafka, topic, 500)] == list(range(500))


def test_bytes_nulls_and_order_of_headers_arrive_as_they_are(kafka, make_topic):
    topic = make_topic("replay")
    headers = (("a", b"1"), ("a", None), ("b", b""), ("a", b"\xff\x00"))
    wires = [Wire(b"", b"", headers), Wire(None, None, ()), Wire(b"\x00k", b"\x00\xff", (("ö", b"x"),))]
    produce(cluster(kafka), topic, [Outgoing(wire, 0) for wire in wires], largest=MEGABYTE, seconds=60)
    arrived = [Wire(m.key(), m.value(), tuple(m.headers() or ())) for m in read_all(kafka, topic, 3)]
    assert arrived == wires


def test_the_partition_is_the_one_that_a_java_producer_takes(kafka, make_topic):
    topic = make_topic("replay", partitions=6)
    keys = [b"order-1001", b"order-1002", b"", b"", b"customer-42"]
    records = [Outgoing(Wire(key, b"v", ()), partition(key, 6)) for key in keys]
    assert all(one.acked for one in produce(cluster(kafka), topic, records, largest=MEGABYTE, seconds=60))
    arrived = {message.key(): message.partition() for message in read_all(kafka, topic, len(keys), 6)}
    assert arrived[b"order-1001"] == 0
    assert arrived[b"order-1002"] == 0
    assert arrived[b""] == partition(b"", 6)


@pytest.mark.kafka
def test_a_record_that_is_too_large_is_refused_and_nothing_after_it_is_sent(kafka, make_topic):
    topic = make_topic("replay", **{"max.message.bytes": "2000"})
    records = [Outgoing(Wire(b"k", b"x" * length, ()), 0) for length in (10, 3000, 10)]
    first, second, third = produce(cluster(kafka), topic, records, largest=2000, seconds=60)
    assert first.acked
    assert "MSG_SIZE_TOO_LARGE" in second.refused
    assert third.refused
    assert len(read_all(kafka, topic, 1)) == 1


@pytest.mark.kafka
def test_a_record_of_the_size_we_say_fits(kafka, make_topic):
    topic = make_topic("replay", **{"max.message.bytes": "20000"})
    headers = tuple((f"name-{number}", b"v" * number) for number in range(50))
    bare = size(Wire(b"key", b"", headers))
    wire = Wire(b"key", b"x" * (20000 - bare), headers)
    assert size(wire) == 20000
    (delivery,) = produce(cluster(kafka), topic, [Outgoing(wire, 0)], largest=20000, seconds=60)
    assert delivery.acked, delivery


@pytest.mark.kafka
def test_a_missing_topic_is_refused_and_not_created(kafka):
    (delivery,) = produce(
        cluster(kafka), "no-such-topic", [Outgoing(Wire(b"k", b"v", ()), 0)], largest=MEGABYTE, seconds=60
    )
    assert "UNKNOWN" in delivery.refused
    from confluent_kafka.admin import AdminClient

    assert "no-such-topic" not in AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).topics


def test_what_was_not_acknowledged_is_thrown_away_and_does_not_arrive_later(kafka, make_topic):
    """A lease is over, a replay was cancelled: nothing of it may still wait in a queue."""
    topic = make_topic("replay")
    (delivery,) = produce(cluster(kafka), topic, [Outgoing(Wire(b"k", b"v", ()), 0)], largest=MEGABYTE, seconds=0.001)
    assert not delivery.refused
    arrived = written(kafka, topic)
    assert arrived >= delivery.acked
    time.sleep(1)
    assert written(kafka, topic) == arrived


def test_without_a_broker_it_is_not_known_and_the_wait_is_bounded():
    started = time.monotonic()
    nowhere = cluster("127.0.0.1:1")
    (delivery,) = produce(nowhere, "any", [Outgoing(Wire(b"k", b"v", ()), 0)], largest=MEGABYTE, seconds=2)
    assert not delivery.acked
    assert not delivery.refused
    assert time.monotonic() - started < 30
