"""The database, then the broker, is really gone while records come: stopped servers of their own, in a real process.

For fifteen seconds, which is longer than intake ever waits between two tries; SIDING_TEST_GONE_SECONDS=60 for a minute.
"""

import os
import subprocess
import sys
import time

import psycopg
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from console.embedded.kafka import Kafka
from console.embedded.postgres import Postgres
from console.environment import environment as given
from parking.models import Flow, TopicIncarnation

from .conftest import Lot
from .test_process import intake, lines, wait

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

SECONDS = float(os.environ.get("SIDING_TEST_GONE_SECONDS", "15"))
FLOWS = """
[[cluster]]
name = "main"
bootstrap_servers = "{kafka}"

[[team]]
name = "ledger"

[[flow]]
name = "payments"
team = "ledger"
cluster = "main"
source_topic = "payments"
consumer_group = "billing"
parking_topic = "payments-parking"
replay_topic = "payments-replay"
"""
HALF = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gone")


@pytest.fixture(scope="module")
def postgres(folder):
    server = Postgres()
    server.start(folder / "postgres")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def kafka(folder):
    server = Kafka(cache_dir=given().cache_dir)
    server.start(folder / "kafka")
    yield server
    server.stop()


@pytest.fixture
def environment(folder, postgres, kafka):
    """For a process of ours that uses these servers, with one flow whose topics are empty."""
    topics = [NewTopic(f"payments{part}", 1, 1) for part in ("", "-parking", "-replay")]
    admin = AdminClient({"bootstrap.servers": kafka.address})
    for future in admin.create_topics(topics).values():
        future.result(60)
    (folder / "flows.toml").write_text(FLOWS.format(kafka=kafka.address))
    ours = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "SIDING_DATABASE_URL": postgres.address,
        "SIDING_KAFKA_BOOTSTRAP_SERVERS": kafka.address,
    }
    for command in (["migrate"], ["flows", str(folder / "flows.toml")]):
        subprocess.run([sys.executable, "manage.py", *command], env=ours, check=True, capture_output=True, timeout=120)
    return ours


def park(kafka, first, last):
    flow = Flow(name="payments", consumer_group="billing", parking_topic="payments-parking")
    lot = Lot(flow, TopicIncarnation(pk=1))
    producer = Producer({"bootstrap.servers": kafka.address})
    for number in range(first, last):
        record = lot.poison(f"e{number}", number, key=b"%d" % (number % 20)).record
        producer.produce(flow.parking_topic, record.value, record.key, headers=list(record.headers))
    assert producer.flush(60) == 0


def stored(postgres):
    """Events, their attempts, records, the positions and the incidents."""
    ask = (
        "SELECT (SELECT count(*) FROM parking_eventstate), (SELECT count(*) FROM parking_attempt),"
        " (SELECT count(*) FROM parking_parkedrecord), (SELECT sum(next_offset) FROM parking_intakeposition),"
        " (SELECT count(*) FROM parking_incident)"
    )
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        found = connection.execute(ask).fetchone()
    assert found
    return found


def test_nothing_is_lost_and_nothing_doubled_while_a_server_is_gone(environment, postgres, kafka, folder, tmp_path):
    with intake(environment, tmp_path) as (process, log):
        park(kafka, 0, HALF)
        wait(lambda: stored(postgres)[0] > 0)
        postgres.stop()
        park(kafka, HALF, 2 * HALF)
        time.sleep(SECONDS)
        told = [line for line in lines(log, that_hold="[warning") if "the database: " in line]
        assert len(told) <= 3, "once for each thing that PostgreSQL says on its way down, not for each try"
        assert "start PostgreSQL" in told[-1]
        postgres.start(folder / "postgres")
        wait(lambda: stored(postgres)[0] == 2 * HALF)
        wait(lambda: lines(log, that_hold="the database: works again"))

        park(kafka, 2 * HALF, 3 * HALF)
        kafka.stop()
        wait(lambda: lines(log, that_hold="cluster main: Kafka cannot be reached"))
        time.sleep(SECONDS)
        kafka.start(folder / "kafka")
        park(kafka, 3 * HALF, 4 * HALF)
        wait(lambda: stored(postgres)[0] == 4 * HALF)
        assert process.poll() is None
    total = 4 * HALF
    assert stored(postgres) == (total, total, total, total, 0)
