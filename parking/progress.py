"""How far a consumer group is, and where the logs of a topic end, as Kafka says now. Nothing is committed."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from parking import topics
from parking.topic_pattern import fitting, is_pattern
from parking.topics import Unreachable

SECONDS = 5.0
MOST_CLIENTS = 16


def committed(settings: Mapping[str, Any], group: str, topic: str, partition: int) -> int | None:
    """The next offset that the group will read of a partition; None if it has committed nothing. Raises Unreachable."""
    asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition)])
    try:
        (answer,) = _client(settings).list_consumer_group_offsets([asked], request_timeout=SECONDS).values()
        (found,) = answer.result(SECONDS + 1).topic_partitions
    except KafkaException as error:
        raise _said(error, f"how far group {group} is") from error
    except TimeoutError as error:
        raise Unreachable(f"Kafka does not tell how far group {group} is: no answer in time") from error
    if found.error is not None:
        raise Unreachable(f"Kafka does not tell how far group {group} is: {found.error.str()}")
    return int(found.offset) if found.offset >= 0 else None


def ends(settings: Mapping[str, Any], declared: Collection[str]) -> dict[tuple[str, int], int]:
    """Topic and partition → the offset that its next record gets, of the topics of these names and patterns.

    Raises Unreachable, also where one of these names is gone.
    """
    what = f"where {', '.join(declared)} ends"
    names = {one for one in declared if not is_pattern(one)}
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    found = topics.find(_client(settings), names, fits=fitting(declared), timeout=SECONDS)
    for gone in sorted(found.missing):
        raise Unreachable(f"topic {gone} does not exist")
    for fault in found.faults.values():
        raise Unreachable(f"Kafka does not tell {what}: {fault}")
    places = [TopicPartition(one.name, number) for one in found.topics.values() for number in range(one.partitions)]
    if not places:
        return {}
    try:
        answers = _client(settings).list_offsets(dict.fromkeys(places, latest), request_timeout=SECONDS)
        return {(at.topic, at.partition): int(answer.result(SECONDS + 1).offset) for at, answer in answers.items()}
    except KafkaException as error:
        raise _said(error, what) from error
    except TimeoutError as error:
        raise Unreachable(f"Kafka does not tell {what}: no answer in time") from error


def nothing_from(settings: Mapping[str, Any], topic: str, partition: int, start: int, end: int) -> bool:
    """Whether no record can be read from `start` to `end`: a transaction leaves marks of its own behind its records."""
    own = {
        "group.id": "siding-progress",  # asked for by the client, never joined
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "log_level": 2,
    }
    consumer = Consumer({**own, **settings})
    try:
        consumer.assign([TopicPartition(topic, partition, start)])
        for message in consumer.consume(1, SECONDS):
            error = message.error()
            at_end = error is not None and error.code() == KafkaError._PARTITION_EOF
            return at_end and (message.offset() or 0) >= end
        return False
    finally:
        consumer.close()


def _said(error: KafkaException, what: str) -> Unreachable:
    return Unreachable(f"Kafka does not tell {what}: {error.args[0].str()}")


_clients: dict[tuple[int, str], topics.Admin] = {}


def _client(settings: Mapping[str, Any]) -> topics.Admin:
    """This process's client of a cluster: connecting anew for each question would take longer than the question."""
    identity = os.getpid(), repr(sorted(settings.items()))
    if identity not in _clients:
        if len(_clients) >= MOST_CLIENTS:
            _clients.clear()
        _clients[identity] = topics.client(settings)
    return _clients[identity]
