"""The one module that reads Kafka for the console. Positions are the caller's: it keeps none, and commits nothing.

Partitions are assigned, not subscribed: a group's rebalance cannot take one away in the middle of a batch, and offsets
that somebody moves in Kafka mean nothing here.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import methodcaller
from typing import Any, NamedTuple, cast

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from parking import topics
from parking.record import Headers, Record
from parking.topic_pattern import fitting, is_pattern
from parking.topics import Topic, Unreachable

Place = tuple[str, int]
"""Topic and partition."""

MOST_BYTES = 32 * 1024 * 1024
"""Of one batch, roughly: memory stays bounded whatever the records are like."""
AT_ONCE = 20
"""Messages that are taken from the client at once: it unpacks their headers, to many times their size."""
_TOPIC_IS_ANOTHER = (
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.OFFSET_OUT_OF_RANGE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
)
OURS: dict[str, Any] = {
    "group.id": "siding-intake",  # asked for by the client, never joined
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,  # where a log ends with the marks of transactions, nothing else tells its end
    "auto.offset.reset": "error",  # never silently somewhere else: the caller looks what became of the log
    "isolation.level": "read_committed",
    "allow.auto.create.topics": False,
}
"""No cluster can have them otherwise."""
SETTINGS: dict[str, Any] = {
    **OURS,
    "queued.max.messages.kbytes": 32 * 1024,
    "fetch.max.bytes": 16 * 1024 * 1024,  # of one answer, or one record that is larger
    "max.partition.fetch.bytes": 8 * 1024 * 1024,
    "fetch.error.backoff.ms": 100,
    "log_level": 2,
}


UNREADABLE = "The headers cannot be read: a name is not UTF-8. Key and value are kept."
CUT = (
    "A header's name is empty, or begins with a NUL: the client cuts names there. The headers may not be as they were."
)


@dataclass(slots=True)
class Fetched:
    """One record, not to be changed.

    `fault` says what of it the client could not read (the record then lacks it), `doubt` what it may have read wrongly;
    `size`, roughly, how many bytes of our memory it takes: a header of three bytes takes a hundred.
    """

    record: Record
    fault: str = ""
    doubt: str = ""
    size: int = 0


class Log(NamedTuple):
    """The offset of the first record that a partition still has, and the one after its last that can be read."""

    start: int
    end: int


@dataclass(slots=True)
class Look:
    """What a cluster says of some topics, asked after `at`: those that are there, their ids (KIP-516; empty where it
    does not tell), and the logs of their partitions.
    """

    at: datetime
    topics: dict[str, Topic] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    logs: dict[Place, Log] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    faults: dict[str, str] = field(default_factory=dict)


class Reader:
    """A consumer of one cluster."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._admin = topics.client(settings)
        self._consumer = Consumer({**SETTINGS, **settings, **OURS}, error_cb=_quiet)
        self._tells_ids: bool | None = None
        self.lost: set[tuple[str, int]] = set()
        """Partitions whose position is not in their log any more, or that are gone: reading them has stopped."""
        self.reached: dict[Place, int] = {}
        """Partitions that were read to this end of their log: before it is nothing that can be read any more."""
        self._waiting: deque[Message] = deque()
        self.refused: dict[str, str] = {}
        """Topics that this user may not read, with what Kafka says."""

    def look(self, declared: Collection[str]) -> Look:
        """What the cluster says now of the topics of these names, and of those that fit these patterns.

        Raises Unreachable. May be called from another thread.
        """
        at = datetime.now(UTC)
        names = {one for one in declared if not is_pattern(one)}
        found = topics.find(self._admin, names, fits=fitting(declared), timeout=5)
        ids, faults = self._told(found.topics)
        there = {name: topic for name, topic in found.topics.items() if name not in faults}
        return Look(at, there, ids, self._logs(there.values()), found.missing, {**found.faults, **faults})

    def ids(self, names: Iterable[str]) -> dict[str, str]:
        """Topic → its id now, without those that are gone. Raises Unreachable."""
        found, faults = self._told(names)
        for fault in faults.values():
            raise Unreachable(fault)
        return found

    def _told(self, names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Topic → its id now, and topic → why Kafka does not tell it; those that are gone are in neither."""
        names = list(names)
        if not names or not self._has_ids():
            return dict.fromkeys(names, ""), {}
        found, faults = {}, {}
        for name, answer in self._admin.describe_topics(TopicCollection(names), request_timeout=5).items():
            try:
                found[name] = str(answer.result(10).topic_id)
            except TimeoutError:
                faults[name] = f"Kafka does not tell about topic {name}: no answer in time"
            except KafkaException as error:
                if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    faults[name] = f"Kafka does not tell about topic {name}: {error.args[0].str()}"
        return found, faults

    def assign(self, places: Mapping[tuple[str, int], int]) -> None:
        """Read exactly these partitions, each from its offset; what was fetched before is dropped."""
        self.lost.clear()
        self.reached.clear()
        self._waiting.clear()
        self._consumer.assign([TopicPartition(topic, number, offset) for (topic, number), offset in places.items()])

    def log(self, topic: str, partition: int) -> tuple[int, int]:
        """Where the log of a partition begins, and its end. Raises Unreachable."""
        begins, ends = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
        return self._end(topic, partition, begins), self._end(topic, partition, ends)

    def _logs(self, found: Iterable[Topic]) -> dict[Place, Log]:
        """Of all partitions, in two questions; without those whose leader does not answer."""
        places = [(topic.name, number) for topic in found for number in range(topic.partitions)]
        starts, ends = self._offsets(places, OffsetSpec.earliest()), self._offsets(places, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        return {place: Log(starts[place], ends[place]) for place in starts.keys() & ends.keys()}

    def _offsets(self, places: Collection[Place], spec: OffsetSpec) -> dict[Place, int]:
        asked = {TopicPartition(*place): spec for place in places}
        if not asked:
            return {}
        answers = self._admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=5)
        found = {}
        for place, answer in answers.items():
            with suppress(KafkaException, TimeoutError):
                found[place.topic, place.partition] = int(answer.result(10).offset)
        return found

    def _end(self, topic: str, partition: int, spec: OffsetSpec) -> int:
        """Asked of the admin client: the consumer may not have heard of a new partition yet."""
        (answer,) = self._admin.list_offsets({TopicPartition(topic, partition): spec}, request_timeout=5).values()
        try:
            return int(answer.result(10).offset)
        except KafkaException as error:
            raise Unreachable(f"Kafka does not tell about {topic}/{partition}: {error.args[0].str()}") from error
        except TimeoutError as error:
            raise Unreachable(f"Kafka does not tell about {topic}/{partition}: no answer in time") from error

    def poll(self, *, most: int, timeout: float) -> list[Fetched]:
        """At most `most` records: as soon as there are some, those that are here; none after `timeout` seconds.

        At most about MOST_BYTES, and one record more: what is here beyond that is kept for the next poll.
        """
        found: list[Fetched] = []
        size = largest = 0
        while len(found) < most and size < MOST_BYTES:
            if not self._waiting:
                room = min(AT_ONCE, most - len(found), (MOST_BYTES - size) // largest + 1) if found else 1
                if not self._fetch(room, 0.01 if found else timeout):
                    break
            message = self._waiting.popleft()
            if message.error() is None:
                one = fetched(message)
                found.append(one)
                size += one.size
                largest = max(largest, one.size)
            else:
                self._heed(message)
            timeout = 0.0  # what says something without a record ends the wait, too
        return found

    def _fetch(self, most: int, timeout: float) -> bool:
        """Take what the client has; its own queue is bounded (SETTINGS)."""
        self._waiting.extend(self._consumer.consume(most, 0.0) or self._consumer.consume(1, timeout))
        return bool(self._waiting)

    def close(self) -> None:
        self._consumer.close()

    def _heed(self, message: Message) -> None:
        """What the client says of a partition in place of a record."""
        error, topic, partition = message.error(), message.topic(), message.partition()
        assert error is not None
        if error.code() == KafkaError._PARTITION_EOF and topic is not None and partition is not None:
            self.reached[topic, partition] = cast("int", message.offset())
        elif error.code() in _TOPIC_IS_ANOTHER and topic is not None and partition is not None:
            self.lost.add((topic, partition))
        elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED and topic is not None:
            self.refused[topic] = error.str()

    def _has_ids(self) -> bool:
        if self._tells_ids is None:
            try:
                cluster = self._admin.list_topics(timeout=5)
            except KafkaException as error:
                raise self._admin.unreachable(error.args[0]) from error
            self._tells_ids = not str(cluster.cluster_id).startswith(topics.MOCK)
        return self._tells_ids


def _quiet(_error: KafkaError) -> None:
    """What the client says of its connections shows in the next look."""


def fetched(message: Message) -> Fetched:
    """The record of a message that is no error."""
    headers, fault = headers_of(message)
    kind, timestamp = message.timestamp()
    key, value = message.key(), message.value()
    record = Record(
        message.topic() or "",
        cast("int", message.partition()),
        cast("int", message.offset()),
        timestamp if kind else -1,
        key,
        value,
        headers,
    )
    names = [len(name) for name, _ in headers]
    size = sum(names) + sum([len(data) for _, data in headers if data]) + 150 * len(names)
    size += len(key or b"") + len(value or b"") + 500
    return Fetched(record, fault, CUT if 0 in names else "", size)


_call_headers = methodcaller("headers")
"""For a name that is not UTF-8 confluent-kafka returns a list and sets an exception, too. `message.headers()` may not
notice: once CPython has specialised that call, the exception comes up anywhere later, outside every `try` around it."""


def headers_of(message: Message) -> tuple[Headers, str]:
    """The headers of a message, and why they cannot be read (empty: they can). One bad name takes all of them."""
    try:
        return tuple(_call_headers(message) or ()), ""
    except (SystemError, UnicodeDecodeError):
        return (), UNREADABLE
