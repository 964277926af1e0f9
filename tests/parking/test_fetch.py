"""An event that arrived as a pointer is fetched later from its source topic, out of a real log."""

from datetime import timedelta

import pytest
from confluent_kafka import Producer
from django.test import Client

from parking import headers as packed_headers
from parking.actor import system
from parking.errors import Refused
from parking.fetch import EPOCH, fetch
from parking.fingerprint import fingerprint
from parking.models import Cluster, EventState, JournalEntry
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
    producer.flush(30)
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
