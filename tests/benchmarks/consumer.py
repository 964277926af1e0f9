"""What the consumer kit costs, on Apache Kafka: `make bench-consumer` (QUICK=1: a tenth of the events).

A table for people, then one JSON object as the last line:

- `ratio_of_ideal`: a handler that waits 50 ms, 100 keys, 32 in flight; throughput against 32 / 50 ms, from the first
  handler's start to the last offset committed (the worse of the two ledgers; PostgreSQL's and SQLite's beside it);
- `cost_us_sqlite`, `cost_us_postgresql`: microseconds per event from poll to commit with an empty handler;
- `bare_us`: a loop that only polls and commits; `serial_us`: the kit, one event at a time, on SQLite;
- `rss_growth_mb`: growth of the process over 1 M events (after the first 5 %), on SQLite.

Each measurement is a process of its own.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from psycopg import connect
from psycopg.conninfo import make_conninfo

from console.environment import environment
from parking.consumer import SERIAL, Event, Flow, KeyedConsumer, Limits, PostgresLedger, SqliteLedger
from parking.consumer.ledger.ledger import Ledger
from tests import servers

PARTITIONS = 4
KEYS = 100
IN_FLIGHT = 32
SECONDS = 0.05
ROOM = {"max.message.bytes": "1310732", "cleanup.policy": "delete"}
PARALLEL = Limits(per_partition=IN_FLIGHT, overall=IN_FLIGHT)


def topics(kafka: str, count: int) -> Flow:
    """A flow whose source topic holds so many events."""
    mark = uuid.uuid4().hex[:8]
    source, parking, replay = (f"bench-{kind}-{mark}" for kind in ("source", "parking", "replay"))
    admin = AdminClient({"bootstrap.servers": kafka})
    made = [NewTopic(source, PARTITIONS, 1)]
    made += [NewTopic(name, PARTITIONS, 1, config=ROOM) for name in (parking, replay)]
    for future in admin.create_topics(made).values():
        future.result(30)
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for number in range(count):
        key = number % KEYS
        producer.produce(
            source, b'{"amount_cents": %d, "text": "%s"}' % (number, b"x" * 100), b"account-%d" % key,
            partition=key % PARTITIONS, headers=[("event-id", b"event-%d" % number)],
        )  # fmt: skip
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0
    return Flow(
        name="bench", source_topic=source, parking_topic=parking, replay_topic=replay, consumer_group=f"group-{mark}"
    )


def committed(kafka: str, flow: Flow) -> int:
    """How many events of the source topic the group has committed."""
    reader = confluent_kafka.Consumer({"bootstrap.servers": kafka, "group.id": flow.consumer_group})
    places = reader.committed([TopicPartition(flow.source_topic, n) for n in range(PARTITIONS)], timeout=30)
    reader.close()
    return sum(max(place.offset, 0) for place in places)


class Watched:
    """A handler that knows when it was first called, and when all was."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.handled = 0
        self.began = 0.0
        self.rss: list[float] = []
        self.enough = threading.Event()

    def __call__(self, event: Event) -> None:
        self.began = self.began or time.perf_counter()
        if self.seconds:
            time.sleep(self.seconds)
        self.handled += 1
        if self.handled % max(self.count // 100, 1) == 0:
            self.rss.append(rss())
        if self.handled >= self.count:
            self.enough.set()


def consume(kafka: str, ledger: Ledger, *, limits: Limits, count: int, seconds: float) -> dict[str, float]:
    """Run the kit over so many events; seconds from the first handler to the last commit, and the growth."""
    flow = apart(topics, kafka, count)  # what the producer leaves in memory is not the kit's
    ledger.prepare()
    handler = Watched(count, seconds)
    consumer = KeyedConsumer(flow, ledger, handler, kafka={"bootstrap.servers": kafka}, limits=limits)
    thread = threading.Thread(target=consumer.run)
    thread.start()
    handler.enough.wait()
    consumer.stop()
    thread.join()
    took = time.perf_counter() - handler.began
    assert committed(kafka, flow) == count, "everything is committed"
    settled = handler.rss[len(handler.rss) // 20 :]
    return {"seconds": took, "rss_growth_mb": max(settled) - settled[0]}


def bare(kafka: str, flow: Flow, count: int) -> dict[str, float]:
    """Poll and commit, nothing else."""
    settings = {"bootstrap.servers": kafka, "group.id": flow.consumer_group, "auto.offset.reset": "earliest"}
    reader = confluent_kafka.Consumer({**settings, "enable.auto.commit": False})
    reader.subscribe([flow.source_topic])
    began, read = 0.0, 0
    while read < count:
        message = reader.poll(0.5)
        if message is not None and message.error() is None:
            began = began or time.perf_counter()
            read += 1
            if read % 500 == 0 and read < count:  # the last ones are left to the commit that waits
                reader.commit(asynchronous=True)
    reader.commit(asynchronous=False)
    took = time.perf_counter() - began
    reader.close()
    return {"seconds": took}


def rss() -> float:
    """Megabytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def apart(call: Callable[..., Any], *arguments: Any) -> Any:
    """What `call` returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def on_sqlite(kafka: str, count: int, limits: Limits, seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        ledger = SqliteLedger(Path(folder) / "ledger.db")
        return consume(kafka, ledger, limits=limits, count=count, seconds=seconds)


def on_postgresql(kafka: str, count: int, limits: Limits, seconds: float, server: str) -> dict[str, float]:
    name = f"bench_{uuid.uuid4().hex[:12]}"
    with connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    try:
        ledger = PostgresLedger(make_conninfo(server, options=f"-csearch_path={name}"))
        return consume(kafka, ledger, limits=limits, count=count, seconds=seconds)
    finally:
        with connect(server, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


def on_nothing(kafka: str, count: int) -> dict[str, float]:
    return bare(kafka, topics(kafka, count), count)


def measure(kafka: str, server: str, *, quick: bool) -> dict[str, float]:
    share = 10 if quick else 1
    slow, fast, many = 12_800 // min(share, 2), 40_000 // share, 1_000_000 // share
    ideal = slow * SECONDS / IN_FLIGHT
    lite = apart(on_sqlite, kafka, slow, PARALLEL, SECONDS)["seconds"]
    postgresql = apart(on_postgresql, kafka, slow, PARALLEL, SECONDS, server)["seconds"]
    return {
        "ratio_of_ideal": round(ideal / max(lite, postgresql), 3),
        "ratio_sqlite": round(ideal / lite, 3),
        "ratio_postgresql": round(ideal / postgresql, 3),
        "cost_us_sqlite": _us(apart(on_sqlite, kafka, fast, PARALLEL, 0), fast),
        "cost_us_postgresql": _us(apart(on_postgresql, kafka, fast, PARALLEL, 0, server), fast),
        "bare_us": _us(apart(on_nothing, kafka, fast), fast),
        "serial_us": _us(apart(on_sqlite, kafka, fast // 4, SERIAL, 0), fast // 4),
        "rss_growth_mb": round(apart(on_sqlite, kafka, many, PARALLEL, 0)["rss_growth_mb"], 1),
    }


def _us(measured: dict[str, float], count: int) -> float:
    return round(measured["seconds"] / count * 1_000_000, 1)


def main() -> int:
    servers.prepare()
    at = environment()
    result = measure(at.kafka_bootstrap_servers, at.database_url, quick=bool(os.environ.get("QUICK")))
    for name, value in result.items():
        print(f"{name:22} {value:>10,}")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
