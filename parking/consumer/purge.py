"""Forgetting what no record can bring back: fates of settled events, and keys that are long open (DESIGN section 4).

A fate goes when it was decided before the oldest record that the source and the replay topic still have was written,
so that nothing that is still delivered can have been decided by it; its key must not be quarantined, and no event must
be left that was renamed because this one wears its id.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger

WINDOW = 1000
DAY_MS = 86_400_000
_ALWAYS = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,  # the end is reached although there was no record: transaction markers, compaction
}
SKEW_MS = 3_600_000
"""How far clocks of brokers and services may differ."""


def purge(
    flow: Flow,
    ledger: Ledger,
    kafka: Mapping[str, Any],
    *,
    keep_days: float = 30.0,
    rest: Callable[[], None] = lambda: None,
) -> int:
    """Forget what is older than `keep_days` and than every record that can still be delivered; how many fates went.

    `kafka` are librdkafka client settings; `rest` is called after each of many short transactions. Raises
    Unavailable, and forgets nothing, where the age of the oldest record cannot be told.
    """
    kept = int(time.time() * 1000 - keep_days * DAY_MS)
    oldest = oldest_record(kafka, (flow.source_topic, flow.replay_topic))
    return forget(flow.name, ledger, before=kept if oldest is None else min(kept, oldest - SKEW_MS), rest=rest)


def forget(flow: str, ledger: Ledger, *, before: int, rest: Callable[[], None] = lambda: None) -> int:
    """Forget what was decided before that time (milliseconds since 1970); how many fates went. Raises Unavailable.

    Many short transactions: whoever needs the tables meanwhile waits for none of them long.
    """
    count, after = 0, b""
    while True:
        with ledger.transaction(flow) as transaction:
            gone, last = transaction.purge_fates(before=before, after=after, most=WINDOW)
        count += gone
        if last is None:
            break
        after = last
        rest()
    with ledger.transaction(flow) as transaction:
        transaction.purge_holds(before=before)
    return count


def oldest_record(kafka: Mapping[str, Any], topics: tuple[str, ...], *, timeout: float = 20.0) -> int | None:
    """The smallest timestamp (milliseconds since 1970) of the partitions' first records; None where all are empty.

    A partition that has nothing but transaction markers, aborted records or holes of compaction is empty, too.

    Raises Unavailable where one cannot be read or tells no time.
    """
    reader = Consumer({"log_level": 2, **kafka, "group.id": "siding-purge", **_ALWAYS})
    try:
        places = [place for topic in topics for place in _beginnings(reader, topic, timeout)]
        return min(_timestamps(reader, places, time.monotonic() + timeout), default=None)
    except KafkaException as error:
        raise Unavailable(f"Kafka: {', '.join(topics)} cannot be read: {error}; nothing was purged") from error
    finally:
        reader.close()


def _beginnings(reader: Consumer, topic: str, timeout: float) -> list[TopicPartition]:
    """Where each partition that has records begins."""
    found = reader.list_topics(topic, timeout=timeout).topics[topic]
    if found.error is not None:
        raise KafkaException(found.error)
    places = []
    for number in found.partitions:
        low, high = reader.get_watermark_offsets(TopicPartition(topic, number), timeout=timeout)
        if low < high:
            places.append(TopicPartition(topic, number, low))
    return places


def _timestamps(reader: Consumer, places: list[TopicPartition], deadline: float) -> list[int]:
    reader.assign(places)
    waiting = {(place.topic, place.partition) for place in places}
    found = []
    while waiting:
        message = reader.poll(max(0.0, min(1.0, deadline - time.monotonic())))
        error = None if message is None else message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if message is not None and (message.topic(), message.partition()) in waiting:
            waiting.discard((message.topic(), message.partition()))
            found += [message.timestamp()[1]] if error is None else []
        if time.monotonic() > deadline and waiting:
            topic, number = min((str(topic), number or 0) for topic, number in waiting)
            raise Unavailable(f"Kafka: the first record of {topic}/{number} cannot be read; nothing was purged")
    if any(not 0 < at <= time.time() * 1000 for at in found):
        raise Unavailable(
            "Kafka: a record tells no time, or a future one, so the oldest one's age is not known; nothing was purged"
        )
    return found
