"""What tests on a broker need: a flow with topics, processes of its service, and the console's side of the topics."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from parking import wire
from parking.consumer.flow import Flow
from parking.consumer.messages import record
from parking.partitioner import partition
from parking.wire import Announcement, Command, Outcome, names

PARTITIONS = 2
LARGE = {"max.message.bytes": "1310732"}
"""What parking and replay topic have to take."""
FAST = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}


@dataclass
class Loop:
    """One flow on the broker."""

    bootstrap: str
    flow: Flow
    folder: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kafka: dict[str, Any] = {"bootstrap.servers": self.bootstrap, "log_level": 2}
        self.producer = Producer(self.kafka)
        self.reader = Consumer({**self.kafka, "group.id": "none", "enable.auto.commit": False})
        self.reader.assign([TopicPartition(self.flow.parking_topic, n, 0) for n in range(PARTITIONS)])
        self.heard: list[Announcement | Outcome] = []

    def start(self, **options: Any) -> subprocess.Popen[str]:
        """Another process of the service."""
        settings = {**self.kafka, **FAST, **options.pop("kafka", {})}
        environment = {f"KIT_{name.upper()}": str(value) for name, value in options.items()}
        environment |= {"KIT_FOLDER": str(self.folder), "KIT_KAFKA": json.dumps(settings)}
        environment["KIT_FLOW"] = json.dumps(asdict(self.flow))
        output = (self.folder / "output").open("a")
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.parking.consumer.running"],
            env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait(60)

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    @property
    def handled(self) -> list[str]:
        handled = self.folder / "handled"
        return handled.read_text().split() if handled.exists() else []

    @property
    def effects(self) -> list[tuple[str, str, int]]:
        connection = sqlite3.connect(self.folder / "service.db", timeout=60)
        try:
            return connection.execute("SELECT event_id, value, token FROM effect").fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            connection.close()

    @property
    def values(self) -> list[str]:
        return [value for _, value, _ in self.effects]

    def send(self, *values: str, key: bytes | None = b"k", headers: Any = None) -> None:
        """Events on the source topic; the id of each is its value."""
        for value in values:
            named = [("event-id", value), *(headers or [])]
            place = partition(key or b"", PARTITIONS)
            self.producer.produce(self.flow.source_topic, value, key, partition=place, headers=named)
        assert self.producer.flush(60) == 0

    def command(self, action: str, token: int, parked: Announcement | None = None, hold_key: bytes = b"k") -> None:
        asked = Command(action, self.flow.name, hold_key, token, "replay")
        if parked is not None:
            asked = Command(
                action, self.flow.name, hold_key, token, "replay", parked.event_id, parked.key, parked.value,
                parked.headers, parked.source, parked.fingerprint,
            )  # fmt: skip
        sent = wire.command.encode(asked)
        place = partition(hold_key, PARTITIONS)
        self.producer.produce(self.flow.replay_topic, sent.value, sent.key, partition=place, headers=list(sent.headers))
        assert self.producer.flush(60) == 0

    def hear(self, until: Callable[[], bool], seconds: float = 120) -> None:
        """Read the parking topic until something is so."""
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, f"not within {seconds} s; heard {self.said}\n{self.output}"
            message = self.reader.poll(0.1)
            if message is not None and message.error() is None:
                self.heard.append(wire.decode_parking(record(message)))

    @property
    def said(self) -> list[str]:
        return [
            f"{r.kind} {r.event_id}" if isinstance(r, Announcement) else f"{r.outcome} {r.event_id or ''}".strip()
            for r in self.heard
        ]

    @property
    def announcements(self) -> list[Announcement]:
        return [heard for heard in self.heard if isinstance(heard, Announcement)]

    @property
    def outcomes(self) -> list[Outcome]:
        return [heard for heard in self.heard if isinstance(heard, Outcome)]

    def hear_all(self, *said: str) -> None:
        self.hear(lambda: set(said) <= set(self.said))

    def committed(self, topic: str) -> list[int]:
        """The group's offset in each partition."""
        with_group = Consumer({**self.kafka, "group.id": self.flow.consumer_group})
        places = with_group.committed([TopicPartition(topic, n) for n in range(PARTITIONS)], timeout=60)
        with_group.close()
        return [place.offset for place in places]

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                self.kill(process)
        self.reader.close()


def settled(heard: list[Outcome]) -> set[str]:
    return {str(outcome.event_id) for outcome in heard if outcome.outcome in names.FACTS}
