"""Pointers are followed and retry topics are watched, from the topic to the store, on Apache Kafka."""

import struct
import time

import pytest
from confluent_kafka import Producer
from django.conf import settings

from parking import kafka_at
from parking.actor import Actor
from parking.errors import Refused
from parking.fetch import fetch
from parking.intake.loop import Intake
from parking.kafka_in import Fetched
from parking.models import Cluster, EventState, PendingRetry

from .conftest import make_flow
from .test_kafka import until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]


def produce(topic, *records):
    """Records as (key, value, headers), with the time of now."""
    producer = Producer({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS})
    for key, value, headers in records:
        producer.produce(topic, value, key, 0, headers=headers)
    assert producer.flush(60) == 0


def declared(make_topic, **changes):
    Cluster.objects.get_or_create(name="main", defaults={"bootstrap_servers": settings.KAFKA_BOOTSTRAP_SERVERS})
    source = make_topic("orders")
    fields = {"target": "plain", "replay_topic": "", "source_topic": source, "consumer_group": "billing"}
    return make_flow("orders", parking_topic=make_topic("orders-dlt"), **(fields | changes))


def pointer(topic, offset):
    place = {"topic": topic, "partition": "0", "offset": str(offset), "group": "billing"}
    return (None, None, [(f"__dlq.errors.{name}", text.encode()) for name, text in place.items()])


def waiting(topic, attempt):
    headers = [
        ("kafka_original-topic", topic.encode()),
        ("kafka_original-partition", struct.pack(">i", 0)),
        ("kafka_original-offset", struct.pack(">q", 7)),
        ("kafka_original-timestamp", struct.pack(">q", 1_796_040_000_000)),
        ("retry_topic-attempts", struct.pack(">i", attempt)),
    ]
    return (b"k", b"{}", headers)


def test_what_a_share_group_points_at_is_stored_and_what_is_gone_says_so(make_topic, transactional_db, intake: Intake):
    flow = declared(make_topic)
    produce(flow.source_topic, (b"A-1", b"v1", [("tag", None)]), (b"A-2", b"v2", []))
    time.sleep(0.01)  # a pointer is written after its event
    places = (1, 0, 99)
    produce(flow.parking_topic, *(pointer(flow.source_topic, offset) for offset in places))
    until(lambda: EventState.objects.count() == 3, intake)
    found = {state.event.source_offset: state for state in EventState.objects.all()}
    assert {offset: bytes(found[offset].payload.value or b"") for offset in (0, 1)} == {0: b"v1", 1: b"v2"}
    assert found[0].quarantine is not None
    assert bytes(found[0].quarantine.hold_key.key) == b"A-1"
    assert not found[0].event.to_be_fetched
    assert found[99].event.to_be_fetched


def test_nothing_of_another_team_is_read_for_who_points_at_it(make_topic, transactional_db, intake: Intake):
    """Siding may read the topics of all teams; whoever writes to a parking topic must not read them through it."""
    flow = declared(make_topic)
    secret = make_topic("payroll-parking")
    produce(secret, (b"k", b"SECRET", []))
    time.sleep(0.01)
    produce(flow.parking_topic, pointer(secret, 0))
    until(lambda: EventState.objects.exists(), intake)
    event = EventState.objects.get()
    assert (event.payload.value, event.event.to_be_fetched) == (None, True)
    assert "is not for this flow to see" in event.event.not_original
    with pytest.raises(Refused, match="is not for this flow to see"):
        fetch(event_state_id=event.pk, actor=Actor("1", "an operator"))
    assert EventState.objects.get().payload.value is None


def test_as_much_as_memory_takes_is_fetched_at_once(make_topic, transactional_db, kafka):
    topic = make_topic("large")
    produce(topic, *((b"k", bytes(10_000), []) for _ in range(5)))
    places = [kafka_at.Place(topic, 0, offset) for offset in range(5)]
    found = kafka_at.read({"bootstrap.servers": kafka}, places, seconds=60, most_bytes=25_000)
    assert [isinstance(found[place], Fetched) for place in places] == [True, True, True, False, False]
    assert found[places[4]] == kafka_at.TOO_MUCH


def test_an_event_waits_on_a_topic_that_fits_the_pattern_until_it_is_parked(make_topic, transactional_db, intake):
    retry = make_topic("orders-again")
    flow = declared(make_topic, retry_topics=["^orders-again-.*$"])
    produce(retry, waiting(flow.source_topic, 2))
    until(lambda: PendingRetry.objects.exists(), intake)
    produce(retry, waiting(flow.source_topic, 3))
    until(lambda: PendingRetry.objects.filter(attempts=2).exists(), intake)
    assert (PendingRetry.objects.get().topic, EventState.objects.count()) == (retry, 0)
    time.sleep(0.01)
    produce(flow.parking_topic, waiting(flow.source_topic, 4))
    until(lambda: EventState.objects.exists(), intake)
    assert PendingRetry.objects.count() == 0
    assert EventState.objects.get().kind == "poison"
