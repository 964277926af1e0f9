"""What tests/conftest.py promises to every test."""

import subprocess
import sys

import psycopg
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource
from django.utils import timezone

from parking.models import JournalEntry, Team

HASH = b"\0" * 32


def test_a_topic_is_new_and_takes_records(kafka, make_topic):
    topic = make_topic("parking", partitions=2)
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, b"value", key=b"key", partition=0)
    assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    record = consumer.poll(120)
    consumer.close()
    assert record
    assert (record.key(), record.value()) == (b"key", b"value")


@pytest.mark.kafka
def test_a_topic_has_the_partitions_and_settings_that_were_asked_for(kafka, make_topic):
    topic = make_topic(partitions=3, **{"cleanup.policy": "compact"})
    admin = AdminClient({"bootstrap.servers": kafka})
    assert len(admin.list_topics(topic, timeout=60).topics[topic].partitions) == 3
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    assert admin.describe_configs([resource])[resource].result(60)["cleanup.policy"].value == "compact"


def test_a_process_sees_the_database_of_its_test(variables):
    Team.objects.create(name="on call")
    program = "import django; django.setup(); from parking.models import Team; print(Team.objects.get().name)"
    said = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    assert said.stdout == "on call\n"


@pytest.mark.parametrize("again", [1, 2])
def test_the_journal_is_empty_for_each_test_that_commits(transactional_db, again):
    assert not JournalEntry.objects.exists()
    JournalEntry.objects.create(at=timezone.now(), actor_id="x", actor_name="x", verb="x", previous=HASH, digest=HASH)


def test_the_database_still_refuses_to_change_the_journal(variables):
    with psycopg.connect(variables["SIDING_DATABASE_URL"]) as connection, pytest.raises(psycopg.errors.RaiseException):
        connection.execute("TRUNCATE parking_journalentry")


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_opens_in_chromium(page):
    page.set_content("<title>Siding</title>")
    assert page.title() == "Siding"


def test_a_browser_earlier_in_the_run_does_not_reach_our_processes(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    assert "DJANGO_ALLOW_ASYNC_UNSAFE" not in request.getfixturevalue("variables")
