"""A service around the kit as a process: `python -m tests.parking.consumer.running`, told by its environment.

A handler that knows a few words: `bad…` never succeeds until the file `healed` is there, `slow…` takes a while,
`again…` fails each time, `deadly…` kills the process, `waits…` is told to wait.
"""

import json
import logging
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from parking.consumer import Event, Flow, KeyedConsumer, Limits, Poison, RateLimited, Retries, SqliteLedger
from parking.consumer.publisher import KafkaPublisher
from parking.wire import Wire
from tests.parking.consumer.service import EFFECTS


def handler(event: Event) -> Any:
    folder = Path(os.environ["KIT_FOLDER"])
    value = (event.value or b"").decode()
    with (folder / "handled").open("a") as handled:
        handled.write(f"{event.event_id}\n")
    if value.startswith("bad") and not (folder / "healed").exists():
        raise Poison("bad")
    if value.startswith("deadly"):
        os.kill(os.getpid(), signal.SIGKILL)
    if value.startswith("again"):
        raise ValueError("another try")
    if value.startswith("waits"):
        raise RateLimited(3600, dependency="of nobody else")
    if value.startswith("slow"):
        time.sleep(float(os.environ.get("KIT_SLOW", "1")))
    statement = "INSERT INTO effect (event_id, value, token) VALUES (?, ?, ?)"
    return lambda connection: connection.execute(statement, [event.event_id, value, event.token])


class Dying(KafkaPublisher):
    """Kills the process before or after the first record is published, as kill -9 would."""

    def publish(self, hold_key: bytes, wire: Wire) -> None:
        if os.environ.get("KIT_DIES") == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().publish(hold_key, wire)
        if os.environ.get("KIT_DIES") == "after":
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    path = Path(os.environ["KIT_FOLDER"]) / "service.db"
    ledger = SqliteLedger(path)
    ledger.prepare()
    with sqlite3.connect(path) as connection:
        connection.execute(EFFECTS.replace("TABLE", "TABLE IF NOT EXISTS"))
    connection.close()
    flow = Flow(**json.loads(os.environ["KIT_FLOW"]))
    kafka = json.loads(os.environ["KIT_KAFKA"])
    limits = Limits(**json.loads(os.environ.get("KIT_LIMITS", "{}")))
    consumer = KeyedConsumer(
        flow,
        ledger,
        handler,
        kafka=kafka,
        retries=Retries(attempts=3, first_wait=float(os.environ.get("KIT_WAIT", "0.01"))),
        limits=limits,
    )
    if "KIT_DIES" in os.environ:
        consumer._outbox._publisher = Dying(kafka, flow.parking_topic)
    consumer.run()


if __name__ == "__main__":
    main()
