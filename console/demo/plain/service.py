"""The two services in one process: each reads its topic in its own group, and parks what fails in its framework's form.

`python -m console.demo.plain.service BOOTSTRAP`. It sends them their events, too (`world`).
"""

import signal
import sys
import threading
import time
from random import Random
from typing import cast

from confluent_kafka import Consumer, Message, Producer

from console.demo.disputes.producer import connect
from console.demo.plain.failures import SERVICES, Service, parked
from console.demo.plain.world import World
from parking.record import Headers, Record

BETWEEN_EVENTS = 2.0  # seconds


class Reader:
    """One service: reads, fails or not, commits after what failed is parked."""

    def __init__(self, service: Service, bootstrap: str, producer: Producer) -> None:
        self.service, self._producer = service, producer
        settings = {"bootstrap.servers": bootstrap, "group.id": service.group, "enable.auto.commit": False}
        self._consumer = Consumer({**settings, "auto.offset.reset": "earliest", "log_level": 2})
        self._consumer.subscribe([service.flow])

    def turn(self) -> None:
        """Take what is there."""
        taken = [record for record in map(_record, self._consumer.consume(100, 0.1)) if record is not None]
        for record in taken:
            fault = self.service.fault(record.value)
            if fault is not None:
                wire = parked(self.service, record, fault)
                self._producer.produce(self.service.parking_topic, wire.value, wire.key, headers=list(wire.headers))
        if taken and self._producer.flush(20) == 0:
            self._consumer.commit(asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


def _record(message: Message) -> Record | None:
    if message.error() is not None:
        return None
    headers = cast("Headers", tuple(message.headers() or ()))
    place = (message.topic() or "", message.partition() or 0, message.offset() or 0)
    return Record(*place, message.timestamp()[1], message.key(), message.value(), headers)


def run(bootstrap: str, stop: threading.Event) -> None:
    """Until `stop` is set."""
    producer, random = connect(bootstrap), Random(time.time_ns())  # noqa: S311 - made-up data
    readers = [Reader(service, bootstrap, producer) for service in SERVICES.values()]
    worlds = {flow: World(flow, random) for flow in SERVICES}
    began, due = time.monotonic(), 0.0
    while not stop.is_set():
        now = time.monotonic() - began
        if now >= due:
            due = now + BETWEEN_EVENTS
            for flow, world in worlds.items():
                sent = world.moment(now)
                producer.produce(flow, sent.value, sent.key, headers=list(sent.headers))
            producer.poll(0)
        for reader in readers:
            reader.turn()
    for reader in readers:
        reader.close()
    producer.flush(5)


def main() -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    run(sys.argv[1], stop)


if __name__ == "__main__":
    main()
