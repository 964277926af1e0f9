"""Records at given places of a cluster's topics: what a pointer points to, what a person asks for."""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from parking.kafka_in import SETTINGS, Fetched, fetched
from parking.topic_pattern import is_name

MOST_BYTES = 64 * 1024 * 1024
TOO_MUCH = "There was too much to fetch at once."
NEAR = 200
"""Records that are read over rather than jumped over."""
_SETTINGS = {"enable.partition.eof": True, "queued.max.messages.kbytes": 4 * 1024}


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int


Found = Fetched | str
"""A record, or a sentence on why there is none."""


def read(
    settings: Mapping[str, Any], places: Collection[Place], *, seconds: float, most_bytes: int = MOST_BYTES
) -> dict[Place, Found]:
    """What stands at each place, or why that is not known; all are looked up within that many seconds, or say so.

    As soon as the records together exceed `most_bytes`, the rest is not read.
    """
    if not places:
        return {}
    until = time.monotonic() + seconds
    found: dict[Place, Found] = {}
    size = 0
    try:
        with closing(Consumer({**SETTINGS, **_SETTINGS, **settings}, error_cb=_quiet)) as consumer:
            for place, one in _all(consumer, places, until):
                found[place] = one
                size += one.size if isinstance(one, Fetched) else 0
                if size > most_bytes:
                    break
            consumer.unassign()
    except KafkaException as error:
        return {**dict.fromkeys(places, f"Kafka does not let it be read: {error.args[0].str()}."), **found}
    return {**dict.fromkeys(places, TOO_MUCH), **found}


def _all(consumer: Consumer, places: Collection[Place], until: float) -> Iterator[tuple[Place, Found]]:
    for topic, of_topic in groupby(sorted(set(places)), key=lambda place: place.topic):
        there = _partitions(consumer, topic, until)
        for partition, wanted in groupby(of_topic, key=lambda place: place.partition):
            if partition in there:
                yield from _of_partition(consumer, list(wanted), until)
            else:
                yield from ((place, f"There is no partition {partition} of topic {topic}.") for place in wanted)


def _partitions(consumer: Consumer, topic: str, until: float) -> Collection[int]:
    """Asked before: the client itself waits for half a minute for a partition to appear. Records name any text."""
    if not is_name(topic):
        return ()
    found = consumer.list_topics(topic, timeout=max(0.01, until - time.monotonic())).topics.get(topic)
    return found.partitions.keys() if found is not None and found.error is None else ()


def _of_partition(consumer: Consumer, wanted: list[Place], until: float) -> Iterator[tuple[Place, Found]]:
    """Places of one partition in the order of their offsets."""
    at = None
    for place in wanted:
        if at is None or not at <= place.offset <= at + NEAR:
            consumer.assign([TopicPartition(*place)])
        found, at = _one(consumer, place, until)
        yield place, found


def _one(consumer: Consumer, place: Place, until: float) -> tuple[Found, int | None]:
    """What is there, and the offset that is read next; None where the position is not known."""
    while time.monotonic() < until:
        for message in consumer.consume(1, max(0.0, min(0.1, until - time.monotonic()))):
            offset = message.offset() or 0
            error = message.error()
            if error is not None:
                why = _why(error, message, place)
                if why:
                    return why, None
            elif offset == place.offset:
                return fetched(message), offset + 1
            elif offset > place.offset:
                return f"No record stands at {_shown(place)}.", None  # compacted, or of an aborted transaction
    return f"Kafka did not give {_shown(place)} in time.", None


def _why(error: KafkaError, message: Message, place: Place) -> str:
    """Why the record will not come; empty for what passes by itself."""
    code = error.code()
    if code == KafkaError._PARTITION_EOF:
        ends = message.offset()
        return "" if ends is not None and ends < 0 else f"The log ends before {_shown(place)}."
    if code in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
        return f"The log has no {_shown(place)} any more, or not yet."
    if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return f"Topic {place.topic} may not be read: {error.str()}."
    return ""


def _shown(place: Place) -> str:
    return f"{place.topic}/{place.partition} offset {place.offset}"


def _quiet(_error: KafkaError) -> None:
    """What the client says of its connections shows in the time that it takes."""
