"""The partitions that this process owns: polling that never stops, offsets that move only past finished records."""

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, TopicPartition

from parking.consumer.errors import Interrupted
from parking.consumer.flow import Flow
from parking.consumer.messages import record
from parking.record import Record

log = logging.getLogger("parking.consumer")

_ALWAYS = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "earliest",  # a new partition or a replay may begin before we look at it for the first time
    "allow.auto.create.topics": False,
}
_USUALLY = {"partition.assignment.strategy": "cooperative-sticky", "log_level": 2}
SHORT = 0.3
"""Seconds that an event may take before fetching is paused; a rebalance waits as long."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A record that is being processed."""

    record: Record
    given_up: threading.Event = field(default_factory=threading.Event)

    @property
    def place(self) -> Place:
        return self.record.topic, self.record.partition

    def wait(self, seconds: float) -> None:
        """Sleep; raises Interrupted when the process stops or has lost the partition."""
        if self.given_up.wait(seconds):
            raise Interrupted


class Subscription:
    """Membership of the flow's consumer group in its source and replay topic. For one thread."""

    def __init__(self, settings: Mapping[str, Any], flow: Flow, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._owned: set[Place] = set()
        self._waiting: deque[Record] = deque()
        self._taken: Taken | None = None
        self._said = ""
        self._swept = 0.0
        self._consumer = confluent_kafka.Consumer(
            {**_USUALLY, **settings, **_ALWAYS, "group.id": flow.consumer_group, "error_cb": self._trouble}
        )
        self._consumer.subscribe(
            [flow.source_topic, flow.replay_topic],
            on_assign=self._assigned,
            on_revoke=self._revoked,
            on_lost=self._revoked,
        )

    def next(self, timeout: float) -> Taken | None:
        """The next record to process, or None if there is none within `timeout` seconds."""
        if not self._waiting:
            self._poll(timeout)
        if not self._waiting:
            return None
        self._taken = Taken(self._waiting.popleft())
        return self._taken

    def until(self, work: "Future[None]", *, within: float) -> bool:
        """Keep polling until `work` is done; whether it finished. Raises what it raised.

        While it runs long, fetching is paused. When the process stops, it has `within` seconds to end.
        """
        if not wait([work], SHORT).done:
            self._while_it_runs(work, within)
        self._taken, taken = None, self._taken
        if not work.done():
            log.warning("a handler did not end within %.0f s; its event is left unfinished", within)
            return False
        try:
            work.result()
        except Interrupted:
            return False
        return taken is not None

    def finished(self, taken: Taken) -> None:
        """Move the offset past a record, if its partition is still ours."""
        if taken.place in self._owned:
            place = TopicPartition(*taken.place, taken.record.offset + 1)
            self._consumer.commit(offsets=[place], asynchronous=True)

    def sweep_is_due(self, every: float) -> bool:
        """Whether the outbox should be looked through: at start, after a rebalance, and when nothing else is to do."""
        due = not self._waiting and time.monotonic() >= self._swept + every
        if due:
            self._swept = time.monotonic()
        return due

    def close(self) -> None:
        """Leave the group; what is finished is committed."""
        self._consumer.close()

    def _while_it_runs(self, work: "Future[None]", within: float) -> None:
        deadline: float | None = None
        while not work.done() and (deadline is None or time.monotonic() < deadline):
            if self._stopping.is_set() and deadline is None:
                deadline = time.monotonic() + within
                self._give_up()
            self._consumer.pause(self._consumer.assignment())
            self._poll(0.0)
            wait([work], 0.1)
        self._consumer.resume(self._consumer.assignment())

    def _poll(self, timeout: float) -> None:
        message = self._consumer.poll(timeout)
        if message is None:
            return
        error = message.error()
        if error is not None:
            self._trouble(error)
        else:
            self._said = ""
            self._waiting.append(record(message))

    def _assigned(self, _: object, partitions: list[TopicPartition]) -> None:
        self._owned |= {(place.topic, place.partition) for place in partitions}
        self._swept = 0.0

    def _revoked(self, _: object, partitions: list[TopicPartition]) -> None:
        """Somebody else goes on with these partitions: what was not finished is theirs."""
        gone = {(place.topic, place.partition) for place in partitions}
        self._owned -= gone
        self._waiting = deque(waiting for waiting in self._waiting if (waiting.topic, waiting.partition) not in gone)
        if self._taken is not None and self._taken.place in gone:
            self._give_up()

    def _give_up(self) -> None:
        if self._taken is not None:
            self._taken.given_up.set()

    def _trouble(self, error: KafkaError) -> None:
        """Say what Kafka complains of, once; librdkafka goes on by itself."""
        if error.code() != KafkaError._PARTITION_EOF and error.str() != self._said:
            self._said = error.str()
            log.error("Kafka: %s; check the addresses, the network and the brokers; trying again", error.str())
