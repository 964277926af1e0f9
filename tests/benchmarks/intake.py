"""How fast intake is, as a ratio to a raw binary COPY of the same rows into a bare table in the same run.

    .venv/bin/python -m tests.benchmarks.intake [events]

Records of about 1 kB with 10 headers, native and Spring, 20 000 keys with a long tail, 60 shapes of errors; from Apache
Kafka (or what stands in for it) to the committed rows. A table for people, then one JSON object as the last line.
"""

import json
import os
import random
import struct
import sys
import time
from collections.abc import Iterator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from confluent_kafka import Producer  # noqa: E402
from confluent_kafka.admin import AdminClient  # noqa: E402
from confluent_kafka.cimpl import NewTopic  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from parking.attempt import Attempt  # noqa: E402
from parking.coordinates import Coordinates  # noqa: E402
from parking.fingerprint import fingerprint  # noqa: E402
from parking.headers import pack  # noqa: E402
from parking.intake.loop import Intake  # noqa: E402
from parking.models import Cluster, EventState, Flow, Team  # noqa: E402
from parking.wire import Announcement, Wire, announcement  # noqa: E402

NOW = int(time.time() * 1000)
KEYS = 20_000
SHAPES = 60
STACK = "Traceback (most recent call last):\n" + "  File 'service.py', line 10, in handle\n" * 5
SPRING = "org.springframework.kafka.listener.ListenerExecutionFailedException"


def keys(count: int) -> Iterator[int]:
    """Few keys have many events, most have few."""
    chance = random.Random(1)
    for _ in range(count):
        yield min(int(chance.paretovariate(0.6)), KEYS)


def native(number: int, key: int, flow: str) -> Wire:
    value = json.dumps({"id": number, "account": key, "text": "x" * 300}).encode()
    headers = (*((f"header-{n}", b"some value") for n in range(9)), ("event-id", b"event-%d" % number))
    tries = (Attempt(1, NOW, f"Error{number % SHAPES}", f"amount {number} is not allowed", STACK),)
    poison = number % 3 == 0
    return announcement.encode(
        Announcement(
            kind="poison" if poison else "held",
            flow=flow,
            event_id=f"event-{number}",
            position=NOW + number,
            fingerprint=fingerprint(b"%d" % key, value, headers),
            source=Coordinates("source", 0, number, NOW),
            key=b"%d" % key,
            value=value,
            headers=headers,
            attempts=tries if poison else (),
        )
    )


def spring(number: int, key: int) -> Wire:
    value = json.dumps({"id": number, "account": key, "text": "x" * 300}).encode()
    headers = (
        ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("kafka_dlt-exception-fqcn", SPRING.encode()),
        ("kafka_dlt-exception-cause-fqcn", b"com.example.Error%d" % (number % SHAPES)),
        ("kafka_dlt-exception-message", b"Listener failed; amount %d" % number),
        (
            "kafka_dlt-exception-stacktrace",
            (f"{SPRING}: Listener failed\n" + "\tat com.example.Service.handle\n" * 5).encode(),
        ),
        ("kafka_dlt-original-topic", b"orders"),
        ("kafka_dlt-original-partition", struct.pack(">i", 0)),
        ("kafka_dlt-original-offset", struct.pack(">q", number)),
        ("kafka_dlt-original-timestamp", struct.pack(">q", NOW)),
        ("kafka_dlt-original-consumer-group", b"orders-group"),
    )
    return Wire(b"%d" % key, value, headers)


def raw_copy(wires: list[Wire]) -> float:
    """Seconds that the same bytes take into a bare table."""
    rows = [(n, wire.key, wire.value, pack(wire.headers)) for n, wire in enumerate(wires)]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (id bigint, key bytea, value bytea, headers bytea)")
        began = time.perf_counter()
        with cursor.copy("COPY bare FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", "bytea", "bytea", "bytea"])
            for row in rows:
                copy.write_row(row)
        return time.perf_counter() - began


def send(topic: str, wires: list[Wire]) -> None:
    producer = Producer({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS, "linger.ms": 50})
    for wire in wires:
        while True:
            try:
                producer.produce(topic, wire.value, wire.key, 0, headers=list(wire.headers))
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(120)


def take_in(count: int) -> tuple[float, float]:
    """Seconds from the first record to the last commit, of one process; and how many of them it worked itself."""
    intake = Intake()
    while not intake.stored:
        intake.turn()
    began, worked, first = time.perf_counter(), time.process_time(), intake.stored
    while intake.stored < count:
        intake.turn()
    share = count / (count - first)
    seconds, worked = (time.perf_counter() - began) * share, (time.process_time() - worked) * share
    intake.close()
    return seconds, worked


def main(count: int) -> None:
    connection.creation.create_test_db(verbosity=0)
    try:
        result = measure(count)
    finally:
        connection.creation.destroy_test_db("siding", verbosity=0)
    for name, value in result.items():
        print(f"{name:28} {value:>14,}")
    print(json.dumps(result))


def measure(count: int) -> dict[str, float]:
    cluster = Cluster.objects.create(name="main", bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
    team = Team.objects.create(name="bench")
    common = {"cluster": cluster, "team": team}
    topics = {name: f"bench-{name}-{NOW}" for name in ("native", "spring")}
    Flow.objects.create(
        name="native",
        source_topic="source",
        consumer_group="g",
        parking_topic=topics["native"],
        replay_topic="r",
        **common,
    )
    Flow.objects.create(
        name="spring", source_topic="orders", consumer_group="orders-group", parking_topic=topics["spring"],
        target="plain", **common,
    )  # fmt: skip
    chosen = list(keys(count))
    half = count // 2
    wires = {
        "native": [native(n, key, "native") for n, key in enumerate(chosen[:half])],
        "spring": [spring(n, key) for n, key in enumerate(chosen[half:])],
    }
    admin = AdminClient({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS})
    for created in admin.create_topics([NewTopic(topic, 1, 1) for topic in topics.values()]).values():
        created.result(30)
    for name, topic in topics.items():
        send(topic, wires[name])
    copied = raw_copy(wires["native"] + wires["spring"])
    seconds, worked = take_in(count)
    assert EventState.objects.count() == count
    admin.delete_topics(list(topics.values()))
    return {
        "events": count,
        "raw_copy_per_second": round(count / copied),
        "intake_per_second": round(count / seconds),
        "ratio_one_process": round(copied / seconds, 3),
        "own_work_us_per_event": round(worked / count * 1e6),
    }


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
