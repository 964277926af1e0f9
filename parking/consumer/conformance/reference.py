"""`python -m parking.consumer.conformance.reference LEDGER`: this kit as the implementation under test.

LEDGER is a file for SQLite, or an address (URL or `name=value …`) of PostgreSQL. An example of the smallest service,
too: a handler, a table for its effects, and a thread that sends them.
"""

import json
import os
import sqlite3
import sys
import threading
import time
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from confluent_kafka import Producer

from parking.consumer import Effect, Event, Flow, KeyedConsumer, Poison, PostgresLedger, SqliteLedger
from parking.consumer.conformance.contract import EFFECT, EVENT_ID
from parking.consumer.conformance.line import Topics

TABLE = """
CREATE TABLE IF NOT EXISTS conformance_effect (
    number {number}, effect text NOT NULL, event_id text NOT NULL, key {bytes}, value {bytes}, sent integer DEFAULT 0
)
"""
INSERT = "INSERT INTO conformance_effect (effect, event_id, key, value) VALUES (?, ?, ?, ?)"
UNSENT = "SELECT number, effect, event_id, key, value FROM conformance_effect WHERE sent = 0 ORDER BY number"
SENT = "UPDATE conformance_effect SET sent = 1 WHERE number = ?"


class Store:
    """The tables of the service, beside the ledger."""

    def __init__(self, address: str) -> None:
        self.sqlite = "://" not in address and "=" not in address
        self._address = address

    def ledger(self) -> SqliteLedger | PostgresLedger:
        return SqliteLedger(Path(self._address)) if self.sqlite else PostgresLedger(self._address)

    def connect(self) -> Any:
        return sqlite3.connect(self._address, timeout=30) if self.sqlite else psycopg.connect(self._address)

    def run(self, connection: Any, statement: str, *values: object) -> Any:
        return connection.execute(statement if self.sqlite else statement.replace("?", "%s"), values)

    def create(self) -> None:
        number = "integer PRIMARY KEY" if self.sqlite else "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        connection = self.connect()
        self.run(connection, TABLE.format(number=number, bytes="blob" if self.sqlite else "bytea"))
        connection.commit()
        connection.close()


def handle(event: Event, *, store: Store) -> Effect:
    """The contract's handler (see `contract`)."""
    try:
        members = json.loads(event.value or b"")
    except ValueError:
        raise Poison("the value is not JSON", error_type="NotJson") from None
    if not isinstance(members, dict) or members.get("fail"):
        raise Poison("the event says that it fails", error_type="Fails")
    time.sleep(members.get("wait_ms", 0) / 1000)
    effect = (uuid.uuid4().hex, event.event_id, event.key, event.value)
    return Effect(lambda connection: store.run(connection, INSERT, *effect))


def send(store: Store, bootstrap: str, topic: str) -> None:
    """Send effects in the order in which they were stored, for ever; what a crash leaves unmarked is sent again."""
    producer, connection = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True}), store.connect()
    while True:
        rows = store.run(connection, UNSENT).fetchall()
        for _, effect, event_id, key, value in rows:
            headers: list[tuple[str, str | bytes | None]] = [(EFFECT, effect), (EVENT_ID, event_id)]
            producer.produce(topic, value, key, headers=headers)
        if producer.flush(30):
            continue
        for number, *_ in rows:
            store.run(connection, SENT, number)
        connection.commit()
        time.sleep(0.05)


def main() -> None:
    store = Store(sys.argv[1])
    store.create()
    ledger = store.ledger()
    ledger.prepare()
    bootstrap, name = os.environ["CONFORMANCE_BOOTSTRAP_SERVERS"], os.environ["CONFORMANCE_FLOW"]
    topics = Topics(*(os.environ[f"CONFORMANCE_{part.upper()}_TOPIC"] for part in Topics._fields))
    secret = os.environ.get("CONFORMANCE_SECRET")
    flow = Flow(
        name=name,
        source_topic=topics.source,
        parking_topic=topics.parking,
        replay_topic=topics.replay,
        consumer_group=f"{name}-service",
        secret=secret.encode() if secret else None,
    )
    threading.Thread(target=send, args=(store, bootstrap, topics.effects), daemon=True).start()
    kafka = {"bootstrap.servers": bootstrap, "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
    KeyedConsumer(flow, ledger, partial(handle, store=store), kafka=kafka).run()


if __name__ == "__main__":
    main()
