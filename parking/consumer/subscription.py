"""Membership of the flow's consumer group: reading that never stops, offsets that move only past finished records."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from parking.consumer.flow import Flow
from parking.consumer.limits import MOST
from parking.consumer.messages import record
from parking.consumer.schedule import Place
from parking.record import Record

log = logging.getLogger("parking.consumer")

_ALWAYS = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,  # tells how far a partition goes where no record is: transaction markers, compaction
    "auto.offset.reset": "earliest",  # a new partition or a replay may begin before we look at it for the first time
    "allow.auto.create.topics": False,
}
_USUALLY = {
    "partition.assignment.strategy": "cooperative-sticky",
    "log_level": 2,
    "queued.max.messages.kbytes": 16_384,  # what the library reads ahead, for all partitions together
    "queued.min.messages": 2_000,  # of each partition: a small record takes several times its size
}


@dataclass(frozen=True, slots=True)
class Reached:
    """The end of a partition: the next record has at least this offset."""

    place: Place
    offset: int


class Owner(Protocol):
    """Who works on the records of the partitions that are ours. Called while `read` or `close` runs."""

    def assigned(self, places: list[Place]) -> None:
        """These partitions are ours now."""

    def revoked(self, places: list[Place]) -> Mapping[Place, int]:
        """They go to somebody else: end the work on them, within a bound; up to where they are finished."""

    def lost(self, places: list[Place]) -> None:
        """They are somebody else's already: nothing of them may be committed."""


class Subscription:
    """The flow's source and replay topic, as one member of its group. For one thread."""

    def __init__(self, settings: Mapping[str, Any], flow: Flow, owner: Owner) -> None:
        self._owner = owner
        self._committed: dict[Place, int] = {}
        self._committing = False
        self._paused: set[Place] = set()
        self._said = ""
        usually = {**_USUALLY, **settings}
        if usually.get("group.protocol") == "consumer":
            del usually["partition.assignment.strategy"]  # in the newer protocol the broker assigns
        self._consumer = confluent_kafka.Consumer(
            {**usually, **_ALWAYS, "group.id": flow.consumer_group, "error_cb": self._trouble, "on_commit": self._done}
        )
        self._consumer.subscribe(
            [flow.source_topic, flow.replay_topic],
            on_assign=self._assigned,
            on_revoke=self._revoked,
            on_lost=self._lost,
        )

    @property
    def places(self) -> list[Place]:
        """The partitions that are ours."""
        return list(self._committed)

    def read(self, timeout: float) -> list[Record | Reached]:
        """What there is, or comes within `timeout` seconds."""
        first = self._consumer.poll(timeout)
        if first is None:
            return []
        messages = [first, *self._consumer.consume(MOST - 1, 0)]
        return [read for message in messages if (read := self._read(message)) is not None]

    def commit(self, positions: Mapping[Place, int]) -> None:
        """Commit how far the partitions are finished, where that has changed; the answer comes during a `read`."""
        if not self._committing and (offsets := self._changed(positions)):
            self._committing = True
            try:
                self._consumer.commit(offsets=offsets, asynchronous=True)
            except KafkaException as error:
                self._done(error.args[0], [])

    def pause(self, places: Iterable[Place]) -> None:
        """Read only what is not paused."""
        paused = set(places) & set(self._committed)
        for change, call in (
            (paused - self._paused, self._consumer.pause),
            (self._paused - paused, self._consumer.resume),
        ):
            if change:
                call([TopicPartition(*place) for place in change])
        self._paused = paused

    def close(self) -> None:
        """Leave the group, after the owner has given up what is ours."""
        self._consumer.close()

    def _read(self, message: Message) -> Record | Reached | None:
        error = message.error()
        if error is None:
            self._said = ""
            return record(message)
        if error.code() == KafkaError._PARTITION_EOF:
            return Reached((message.topic() or "", message.partition() or 0), message.offset() or 0)
        self._trouble(error)
        return None

    def _changed(self, positions: Mapping[Place, int]) -> list[TopicPartition]:
        return [
            TopicPartition(*place, position)
            for place, position in positions.items()
            if self._committed.get(place, position) != position
        ]

    def _done(self, error: KafkaError | None, offsets: list[TopicPartition]) -> None:
        self._committing = False
        for place in offsets:
            if error is None and place.error is None and (place.topic, place.partition) in self._committed:
                self._committed[place.topic, place.partition] = place.offset
        if error is not None:
            log.info("Kafka: offsets were not committed: %s; trying again", error.str())

    def _assigned(self, _: object, partitions: list[TopicPartition]) -> None:
        places = _places(partitions)
        self._committed |= dict.fromkeys(places, -1)
        self._owner.assigned(places)

    def _revoked(self, _: object, partitions: list[TopicPartition]) -> None:
        """Somebody else goes on with these partitions, from what is committed now."""
        offsets = self._changed(self._owner.revoked(_places(partitions)))
        if offsets:
            try:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException as error:
                log.warning("Kafka: offsets were not committed, finished events come again: %s", error.args[0].str())
        self._forget(_places(partitions))

    def _lost(self, _: object, partitions: list[TopicPartition]) -> None:
        log.warning("Kafka: lost %d partitions to another member", len(partitions))
        self._owner.lost(_places(partitions))
        self._forget(_places(partitions))

    def _forget(self, places: list[Place]) -> None:
        self._paused -= set(places)
        for place in places:
            self._committed.pop(place, None)

    def _trouble(self, error: KafkaError) -> None:
        """Say what Kafka complains of, once; librdkafka goes on by itself."""
        if error.str() != self._said:
            self._said = error.str()
            log.error("Kafka: %s; check the addresses, the network and the brokers; trying again", error.str())


def _places(partitions: Iterable[TopicPartition]) -> list[Place]:
    return [(place.topic, place.partition) for place in partitions]
