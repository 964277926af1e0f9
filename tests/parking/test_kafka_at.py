"""Records at given places, out of a real log."""

import time

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from parking import kafka_at
from parking.coordinates import Coordinates
from parking.kafka_at import Place
from parking.kafka_in import Fetched

pytestmark = pytest.mark.kafka


@pytest.fixture
def topic(kafka, make_topic):
    """A topic with 600 records on each of two partitions, the first 10 of the first gone."""
    name = make_topic("source", partitions=2)
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(1200):
        producer.produce(
            name, b"v%d" % number, b"k", headers=[("n", None), ("n", b"1")], partition=number % 2, timestamp=number + 1
        )
    producer.flush(60)
    admin = AdminClient({"bootstrap.servers": kafka})
    (deleted,) = admin.delete_records([TopicPartition(name, 0, 10)]).values()
    deleted.result(60)
    return name


def read(kafka, *places, seconds=60.0):
    return kafka_at.read({"bootstrap.servers": kafka}, places, seconds=seconds)


def test_records_near_and_far_of_each_other_with_everything_of_them(kafka, topic):
    places = [Place(topic, partition, offset) for partition in (1, 0) for offset in (599, 11, 12, 300, 10)]
    found = read(kafka, *places)
    assert found.keys() == set(places)
    for place, one in found.items():
        assert isinstance(one, Fetched)
        number = place.offset * 2 + place.partition
        assert one.record.coordinates == Coordinates(topic, place.partition, place.offset, number + 1)
        assert one.record.value == b"v%d" % number
        assert one.record.headers == (("n", None), ("n", b"1"))


def test_what_is_not_there_says_why_and_the_others_come(kafka, topic):
    gone, end, nowhere, there = (
        Place(topic, 0, 3), Place(topic, 0, 600), Place(topic, 7, 1), Place(topic, 1, 0),
    )  # fmt: skip
    missing = Place(f"{topic}-missing", 0, 0)
    found = read(kafka, gone, end, nowhere, missing, there)
    assert "any more" in found[gone]
    assert "ends before" in found[end]
    assert "no partition 7" in found[nowhere]
    assert "no partition 0" in found[missing]
    assert isinstance(found[there], Fetched)


@pytest.mark.parametrize("topic", ["or\0ders", "", "\ud800", "o" * 250, ".."])
def test_what_cannot_be_a_topic_is_asked_of_nobody(topic):
    """A record names its source as it likes, and a NUL would end the process that asks for it."""
    place = Place(topic, 0, 1)
    found = kafka_at.read({"bootstrap.servers": "127.0.0.1:1"}, [place], seconds=1.0)
    assert "no partition 0" in str(found[place])


def test_a_cluster_that_does_not_answer_keeps_nobody_waiting_longer():
    place, began = Place("orders", 0, 1), time.monotonic()
    found = kafka_at.read({"bootstrap.servers": "127.0.0.1:1"}, [place], seconds=1.0)
    assert "Kafka" in str(found[place])
    assert time.monotonic() - began < 20, "it waited for what it was not given"


def test_nothing_to_look_up_asks_nobody():
    assert kafka_at.read({"bootstrap.servers": "127.0.0.1:1"}, [], seconds=1.0) == {}
