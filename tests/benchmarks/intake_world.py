"""What the benchmark of intake reads and runs: topics full of lifelike records, and real `manage.py` processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from django.conf import settings
from django.db import connection, transaction

from console.demo.life import stream
from parking.models import Cluster, Flow, Team
from parking.wire import Wire

ROOT = Path(__file__).resolve().parents[2]
PRODUCERS: tuple[stream.Producer, ...] = ("native", "spring", "connect")
PARTITIONS = 2


class Lot:
    """The parking topics of one part of the benchmark: one for each producer, filled before anybody reads them."""

    def __init__(self, name: str, count: int, at_ms: int) -> None:
        self.count = count - count % len(PRODUCERS)
        self._flows = {producer: f"{producer}-{name}" for producer in PRODUCERS}
        self._topics = {producer: f"bench-{at_ms}-{flow}" for producer, flow in self._flows.items()}
        self._at_ms = at_ms

    def wires(self, producer: stream.Producer, count: int) -> Iterator[Wire]:
        return stream.wires(producer, count, flow=self._flows[producer], at_ms=self._at_ms)

    def fill(self) -> None:
        """All in turn, so that every second of the log is a mix."""
        admin = AdminClient({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS})
        made = admin.create_topics([NewTopic(topic, PARTITIONS, 1) for topic in self._topics.values()])
        for created in made.values():
            created.result(30)
        sender = Producer({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS, "linger.ms": 20})
        waiting = {producer: self.wires(producer, self.count // len(PRODUCERS)) for producer in PRODUCERS}
        while waiting:
            for producer, wires in list(waiting.items()):
                sent = list(islice(wires, 500))
                _send(sender, self._topics[producer], sent)
                if not sent:
                    del waiting[producer]
        if sender.flush(120):
            raise SystemExit("Kafka did not take all records of the benchmark within two minutes")

    @transaction.atomic
    def declare(self, cluster: Cluster, team: Team) -> None:
        """From now on intake reads them."""
        for producer, name in self._flows.items():
            Flow.objects.create(
                name=name,
                cluster=cluster,
                team=team,
                source_topic=name,
                consumer_group=stream.group(producer, name),
                target="gated" if producer == "native" else "plain",
                replay_topic=f"{name}-replay" if producer == "native" else "",
                parking_topic=self._topics[producer],
            )

    def drop(self) -> None:
        Flow.objects.filter(name__in=self._flows.values()).update(enabled=False)
        AdminClient({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS}).delete_topics(list(self._topics.values()))


def _send(sender: Producer, topic: str, wires: list[Wire]) -> None:
    for wire in wires:
        while True:
            try:
                sender.produce(topic, wire.value, wire.key, headers=list(wire.headers))
                break
            except BufferError:
                sender.poll(0.1)
    sender.poll(0)


@contextmanager
def process(command: str) -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py <command>` on the database of this run, ended at the end."""
    parts = connection.settings_dict
    url = f"postgresql://{parts['USER']}:{parts['PASSWORD']}@{parts['HOST']}:{parts['PORT']}/{parts['NAME']}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "SIDING_DATABASE_URL": url,
        "SIDING_KAFKA_BOOTSTRAP_SERVERS": settings.KAFKA_BOOTSTRAP_SERVERS,
    }
    started = subprocess.Popen(
        [sys.executable, "-W", "ignore", "manage.py", command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def resident_mb(running: subprocess.Popen[bytes]) -> float:
    """Memory that the process has in use now."""
    pages = int(Path(f"/proc/{running.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
