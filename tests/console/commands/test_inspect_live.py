"""`manage.py inspect --topic T --partition P --offset O`: one record out of a real log, as intake would read it."""

import io
import json
import os
import subprocess
import sys
import uuid
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from django.core.management import CommandError, call_command

from console.schemas.kept import KEPT
from parking.models import Cluster
from parking.wire import announcement
from tests.console.commands.test_inspect import NOWHERE, poison
from tests.parking.consumer import raw_producer
from tests.registry import AVRO, SchemaRegistry

pytestmark = pytest.mark.kafka
DECIDED = b"\0\0\0\0\x05\x0cdsp-77\x80\x89\x0f\x00"


@pytest.fixture
def topic(kafka, make_topic) -> str:
    """Partition 0: a poison event, then an Avro value with repeated and null headers, then a text."""
    name = str(make_topic("inspected", partitions=2))
    wire = announcement.encode(poison())
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(name, wire.value, wire.key, 0, headers=list(wire.headers), timestamp=5)
    producer.produce(name, DECIDED, None, 0, headers=[("a", None), ("a", b"1")], timestamp=6)
    producer.produce(name, b"text", b"", 0, timestamp=7)
    assert producer.flush(60) == 0
    return name


def inspect(topic: str, offset: int, *more: str, partition: int = 0) -> dict[str, Any]:
    out = io.StringIO()
    place = ("--topic", topic, "--partition", str(partition), "--offset", str(offset))
    call_command("inspect", *place, *more, stdout=out)
    (line,) = out.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def fault(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("inspect", *arguments)
    return str(error.value)


def at(topic: str, partition: int, offset: int) -> tuple[str, ...]:
    return ("--topic", topic, "--partition", str(partition), "--offset", str(offset))


def test_a_record_of_ours_without_a_database(kafka, topic):
    env = {**NOWHERE, "SIDING_KAFKA_BOOTSTRAP_SERVERS": kafka, "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "manage.py", "inspect", *at(topic, 0, 0)],
        env=env, capture_output=True, timeout=240, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    read = json.loads(line)
    assert (read["framework"], read["event_id"], read["error_class"]) == ("siding", "e1", "ValueError")
    assert read["unreadable"] is None
    assert "decoded" not in read


def test_anything_else_stands_for_itself(topic):
    read = inspect(topic, 2)
    assert (read["framework"], read["event_id"]) == ("unattributed", f"{topic}/0/2@7")


def test_what_its_value_is_by_the_registry_of_its_cluster(kafka, topic, db):
    KEPT.forget()
    assert "decoded" not in inspect(topic, 1)
    alone = inspect(topic, 1, "--decode")["decoded"]
    assert alone["form"] in ("hex", "text")
    assert any("no schema registry is declared" in one["said"] for one in alone["verdicts"])
    with SchemaRegistry() as registry:
        registry.avro(5, AVRO)
        settings = {"schema.registry.url": registry.url}
        Cluster.objects.create(name="main", bootstrap_servers=kafka, settings=settings)
        read = inspect(topic, 1, "--decode", "--cluster", "main")["decoded"]
    assert read["decoder"] == "Avro"
    assert read["document"] == '{"dispute_id":"dsp-77","amount_cents":123456,"reason":null}'
    assert (read["whole"], read["notes"]) == (True, [])
    assert read["verdicts"][0] == {
        "decoder": "Avro", "fits": True, "said": "by schema 5, named by its first five bytes",
    }  # fmt: skip
    assert {one["decoder"] for one in read["verdicts"]} >= {"Avro", "JSON", "text", "MessagePack", "CBOR", "hex"}


def test_headers_that_cannot_be_read_are_told_as_intake_would(kafka, make_topic):
    topic = make_topic("inspected")
    raw_producer.produce(kafka, topic, b"v", b"na\xffme")
    read = inspect(topic, 0)
    assert "not UTF-8" in read["unreadable"]
    assert read["event_id"].startswith(f"{topic}/0/0@")


def test_what_is_not_there_says_what_is(kafka, topic):
    assert fault(*at(topic, 0, 3)) == f"{topic}/0 has nothing at offset 3 yet: its last offset is 2."
    assert fault(*at(topic, 1, 0)) == f"{topic}/1 has nothing at offset 0 yet: it is empty."
    assert fault(*at(topic, 2, 0)) == f"Topic {topic} has the partitions 0 to 1; there is no 2."
    assert fault(*at(topic + "x", 0, 0)) == f"Topic {topic}x does not exist on {kafka}."
    admin = AdminClient({"bootstrap.servers": kafka})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 1)]).values()
    deleted.result(60)
    assert fault(*at(topic, 0, 0)) == (
        f"{topic}/0 begins at offset 1: what was before has been deleted by its retention."
    )
    assert inspect(topic, 1)["event_id"] == f"{topic}/0/1@6"


def test_a_hole_is_a_hole(kafka, make_topic):
    topic = make_topic("inspected")
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(60)
    for value, end in ((b"aborted", producer.abort_transaction), (b"kept", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(60)
        end(30)
    hole = "has no record at offset {}: a transaction's marker, a record of a transaction that was aborted or is open"
    for offset in (0, 1, 3):
        assert hole.format(offset) in fault(*at(topic, 0, offset))
    assert inspect(topic, 2)["event_id"].startswith(f"{topic}/0/2@")


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_or_is_not_declared(settings, db):
    settings.KAFKA_BOOTSTRAP_SERVERS = "127.0.0.1:1"
    assert fault(*at("t", 0, 0)).startswith("127.0.0.1:1: Kafka cannot be reached")
    Cluster.objects.create(name="main", bootstrap_servers="127.0.0.1:1", settings={"nonsense.setting": "x"})
    assert "nonsense.setting" in fault(*at("t", 0, 0), "--cluster", "main")
    assert fault(*at("t", 0, 0), "--cluster", "mian") == "There is no cluster 'mian'; declared are: main."


@pytest.mark.parametrize("given", [("--topic", "t"), ("--offset", "1"), ("--topic", "t", "--partition", "0")])
def test_a_place_has_three_parts(given):
    assert fault(*given) == "--topic, --partition and --offset belong together: all three were expected."


@pytest.mark.parametrize("number", ["-1", "x", "9223372036854775808"])
def test_numbers_are_numbers(number):
    said = f"argument --offset: a whole number from 0 on was expected, {number!r} arrived"
    assert said in fault("--topic", "t", "--partition", "0", f"--offset={number}")
