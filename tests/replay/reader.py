"""A consumer of tests that takes what is in a topic, and waits neither too long nor too short for it."""

import time

from confluent_kafka import Consumer, TopicPartition

from parking.record import Record

MANY = 10_000
SETTINGS = {
    "enable.auto.commit": False,
    "fetch.wait.max.ms": 10,  # a fetch that waits for records holds up the question where the log ends
}


class Reader:
    def __init__(self, kafka: str, topic: str, *, group: str, partitions: int) -> None:
        self._consumer = Consumer({"bootstrap.servers": kafka, "group.id": group, **SETTINGS})
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        self._next: dict[int, int] = {}

    def read(self, most: int | None = None) -> list[Record]:
        """What was not read before (at most so many), up to where each partition ends now."""
        wanted = min(self._unread(), most or MANY)
        found: list[Record] = []
        deadline = time.monotonic() + 60
        while len(found) < wanted:
            assert time.monotonic() < deadline, f"{len(found)} of {wanted} records came"
            found += map(_record, self._consumer.consume(wanted - len(found), 0.5))
        self._next.update((record.partition, record.offset + 1) for record in found)
        return found

    def _unread(self) -> int:
        return sum(self._end(at) - self._next.get(at.partition, 0) for at in self._consumer.assignment())

    def _end(self, at: TopicPartition) -> int:
        end: int = self._consumer.get_watermark_offsets(at, timeout=60)[1]
        return end

    def commit(self, record: Record) -> None:
        behind = TopicPartition(record.topic, record.partition, record.offset + 1)
        self._consumer.commit(offsets=[behind], asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


def _record(message) -> Record:
    assert message.error() is None, message.error()
    _, timestamp = message.timestamp()
    return Record(
        message.topic(),
        message.partition(),
        message.offset(),
        timestamp,
        message.key(),
        message.value(),
        tuple(message.headers() or ()),
    )
