"""An event that arrived as a pointer is fetched later from its source topic, out of a real log."""

import time
from datetime import timedelta

import pytest
from confluent_kafka import Producer
from django.test import Client

from parking import headers as packed_headers
from parking.actor import system
from parking.errors import Refused
from parking.fetch import EPOCH, fetch
from parking.fetch_late import AT_ONCE, FIRST, Walk
from parking.fingerprint import fingerprint
from parking.models import Cluster, EventState, JournalEntry
from replay.watch import Watch
from tests.console import story
from tests.parking.intake.conftest import make_flow, make_lot

pytestmark = pytest.mark.kafka
ANNE = system("anne")


@pytest.fixture
def source(kafka, make_topic):
    """A source topic with three records."""
    topic = make_topic("orders")
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(3):
        producer.produce(topic, b"v%d" % number, b"A-%d" % number, headers=[("tag", None)], timestamp=1 + number)
    producer.flush(60)
    return topic


@pytest.fixture
def lot(db, kafka, source):
    Cluster.objects.update_or_create(name="main", defaults={"bootstrap_servers": kafka})
    return make_lot(make_flow("orders", source_topic=source, target="plain", replay_topic=""))


def point_at(lot, topic, offset):
    headers = [
        ("__dlq.errors.topic", topic.encode()),
        ("__dlq.errors.partition", b"0"),
        ("__dlq.errors.offset", b"%d" % offset),
        ("__dlq.errors.group", lot.flow.consumer_group.encode()),
    ]
    lot.store(lot.record(None, None, headers))
    return EventState.objects.get()


def test_key_value_and_headers_come_from_the_source_and_the_journal_says_who_fetched(lot, source):
    event = point_at(lot, source, 1)
    assert event.event.to_be_fetched
    fetch(event_state_id=event.pk, actor=ANNE)
    event = EventState.objects.get()
    key, value = event.payload.key, event.payload.value
    assert key is not None
    assert value is not None
    assert (bytes(key), bytes(value)) == (b"A-1", b"v1")
    assert packed_headers.unpack(event.payload.headers) == (("tag", None),)
    assert bytes(event.event.fingerprint) == fingerprint(b"A-1", b"v1", (("tag", None),))
    assert (event.event.not_original, event.event.to_be_fetched) == ("", False)
    assert event.event.source_at == EPOCH + timedelta(milliseconds=2)
    assert JournalEntry.objects.get(verb="fetch").detail == {"topic": source, "partition": 0, "offset": 1}
    with pytest.raises(Refused, match="nothing to fetch"):
        fetch(event_state_id=event.pk, actor=ANNE)


def test_what_is_not_there_is_refused_with_the_reason(lot, source):
    event = point_at(lot, source, 7)
    with pytest.raises(Refused, match=r"log ends before|any more"):
        fetch(event_state_id=event.pk, actor=ANNE)
    assert EventState.objects.get().event.to_be_fetched


def test_the_page_offers_it_and_shows_the_value_afterwards(lot, source):
    event = point_at(lot, source, 2)
    client = Client()
    client.force_login(story.person("oncall", operator=lot.flow))
    assert f"Fetch them from {source}" in client.get(f"/events/{event.pk}").content.decode()
    page = client.post(f"/events/{event.pk}/fetch", follow=True).content.decode()
    assert "were read from the source topic" in page
    assert "Fetch them from" not in page
    again = client.post(f"/events/{event.pk}/fetch", follow=True).content.decode()
    assert "nothing to fetch" in again


# Without anybody asking


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def grow(kafka, topic, *values):
    producer = Producer({"bootstrap.servers": kafka})
    for value in values:
        producer.produce(topic, value, b"A-9", timestamp=5)
    assert producer.flush(60) == 0


def values():
    found = EventState.objects.select_related("payload").order_by("pk")
    return [None if event.payload.value is None else bytes(event.payload.value) for event in found]


def pointers_at(lot, topic, *offsets):
    place = {"topic": topic.encode(), "partition": b"0", "group": lot.flow.consumer_group.encode()}
    for offset in offsets:
        told = place | {"offset": b"%d" % offset}
        lot.store(lot.record(None, None, [(f"__dlq.errors.{name}", value) for name, value in told.items()]))


def test_the_watch_fetches_by_itself_what_is_there_and_journals_it(lot, source):
    pointers_at(lot, source, 0, 2, 99)
    assert Walk().fetch_late() == 2
    assert values() == [b"v0", b"v2", None]
    assert JournalEntry.objects.filter(verb="fetch", actor_name="watch").count() == 2
    assert Walk().fetch_late() == 0


def test_what_is_not_there_has_its_turn_again_after_a_pause_that_grows(lot, source, kafka):
    clock = Clock()
    walk = Walk(clock)
    pointers_at(lot, source, 3, 4)
    assert [walk.fetch_late(), walk.fetch_late()] == [0, 0]
    grow(kafka, source, b"v3")
    assert walk.fetch_late() == 0, "it is not asked for in each round"
    clock.now = FIRST
    assert walk.fetch_late() == 1
    grow(kafka, source, b"v4")
    clock.now = 2 * FIRST - 1
    assert walk.fetch_late() == 0
    clock.now = 2 * FIRST
    assert walk.fetch_late() == 1
    assert values() == [b"v3", b"v4"]


def test_what_comes_meanwhile_is_tried_in_the_next_round(lot, source):
    walk = Walk(Clock())
    pointers_at(lot, source, 99)
    assert walk.fetch_late() == 0
    pointers_at(lot, source, 1)
    assert walk.fetch_late() == 1


def test_a_round_tries_a_bounded_number(lot, source, kafka):
    walk = Walk(Clock())
    grow(kafka, source, *[b"v"] * AT_ONCE)
    pointers_at(lot, source, *range(AT_ONCE + 1))
    assert [walk.fetch_late(), walk.fetch_late(), walk.fetch_late()] == [AT_ONCE, 1, 0]


def test_what_points_elsewhere_is_never_asked_for(lot, source, make_topic, kafka):
    secret = make_topic("payroll")
    grow(kafka, secret, b"SECRET")
    pointers_at(lot, secret, 0)
    assert Walk().fetch_late() == 0
    assert values() == [None]


@pytest.mark.slow
@pytest.mark.usefixtures("kafka_is_away")
def test_a_cluster_that_is_away_takes_a_few_seconds_and_loses_nothing(lot, source, kafka):
    pointers_at(lot, source, 1)
    Cluster.objects.update(bootstrap_servers="127.0.0.1:1")
    walk = Walk(clock := Clock())
    begun = time.monotonic()
    assert walk.fetch_late() == 0
    assert time.monotonic() - begun < 30
    Cluster.objects.update(bootstrap_servers=kafka)
    clock.now = FIRST
    assert walk.fetch_late() == 1


@pytest.mark.django_db(transaction=True)
def test_a_round_of_the_watch_does_it(lot, source):
    pointers_at(lot, source, 1)
    watch = Watch()
    assert watch.once()
    watch.close()
    assert values() == [b"v1"]
