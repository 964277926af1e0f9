"""Since when records can still come: what the purge asks of Kafka, and what it concludes (DESIGN section 4).

Where a partition ended at some time parts its records: what could be read before that time stands below. Once the topic
has nothing more of that, and the group has finished all of it, no record can meet what was decided before that time:
whatever time its producer stamped it with, and whoever of the group has read it and lets it wait.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.rows import Note

MOVING = {KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
"""What a group's broker answers while another one takes the group over, or nobody had a group in the cluster before."""


class Place(NamedTuple):
    """A partition: its first offset, the one after its last, and what the group has committed (−1: nothing)."""

    begin: int
    end: int
    committed: int


def look(note: Note, now_ms: int, places: Mapping[str, Place]) -> Note:
    """What is to be noted, `now_ms` being a time before anybody looked at these partitions."""
    ends = {name: place.end for name, place in places.items()}
    if not note.at or any(ends.get(name, -1) < end for name, end in note.ends.items()):
        return replace(note, at=now_ms, ends=ends)  # the first time, or the topics are others now
    if all(_passed(place, note.ends.get(name, 0)) for name, place in places.items()):
        return Note(edge=note.at, at=now_ms, ends=ends)
    return note


def _passed(place: Place, end: int) -> bool:
    """Whether nothing below `end` can come any more. A partition that had nothing then, or was not there, has it so."""
    return not end or min(place.begin, place.committed) >= end


def places(kafka: Mapping[str, Any], flow: Flow, *, timeout: float = 20.0) -> dict[str, Place]:
    """The partitions of source and replay topic, by names that are others in another cluster.

    Asks as a member of the flow's group would, and joins nothing: whoever may consume may ask.
    Raises Unavailable where one cannot be asked.
    """
    settings = {"log_level": 2, **kafka, "group.id": flow.consumer_group, "enable.auto.commit": False}
    reader = Consumer(settings)
    topics = (flow.source_topic, flow.replay_topic)
    try:
        return dict(place for topic in topics for place in _places(reader, topic, timeout))
    except KafkaException as error:
        raise Unavailable(
            f"Kafka: what group {flow.consumer_group} has read of {' and '.join(topics)} cannot be told: {error}; "
            "nothing was purged"
        ) from error
    finally:
        reader.close()


def _places(reader: Consumer, topic: str, timeout: float) -> list[tuple[str, Place]]:
    cluster = reader.list_topics(topic, timeout=timeout)
    found = cluster.topics[topic]
    if found.error is not None:
        raise KafkaException(found.error)
    committed = _committed(reader, [TopicPartition(topic, number) for number in found.partitions], timeout)
    return [(f"{cluster.cluster_id}/{topic}/{one.partition}", _place(reader, one, timeout)) for one in committed]


def _committed(reader: Consumer, partitions: list[TopicPartition], timeout: float) -> Iterable[TopicPartition]:
    end = time.monotonic() + timeout
    while True:
        try:
            return reader.committed(partitions, timeout=timeout)
        except KafkaException as error:
            if error.args[0].code() not in MOVING or time.monotonic() > end:
                raise
        time.sleep(0.2)


def _place(reader: Consumer, committed: TopicPartition, timeout: float) -> Place:
    if committed.error is not None:
        raise KafkaException(committed.error)
    begin, end = reader.get_watermark_offsets(committed, timeout=timeout)
    return Place(begin, end, max(committed.offset, -1))
