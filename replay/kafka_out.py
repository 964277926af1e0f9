"""The one module that writes Kafka for the console: in order, acknowledged by all replicas, in bounded time.

The partition is always chosen by the caller; librdkafka's own partitioner would send a key elsewhere than Java's.
"""

import logging
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from parking.models import Cluster
from parking.wire import Wire

log = logging.getLogger(__name__)
Settings = dict[str, Any]

# What librdkafka and the broker put around a record: one batch header, and lengths as varints at their longest.
BATCH_OVERHEAD = 61 + 36
HEADER_OVERHEAD = 10
NOT_SENT = frozenset(
    (
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._INVALID_ARG,
    )
)
"""Errors after which a record is certainly not in the log and would not get there by trying again."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One record and the partition it goes to."""

    wire: Wire
    partition: int


@dataclass(slots=True)
class Delivery:
    """`acked`: all replicas have it. `refused`: it is certainly not in the log, and why. Neither: not known."""

    acked: bool = False
    refused: str = ""
    error: str = ""
    partition: int | None = None
    offset: int | None = None
    """Where the broker put it."""


def size(wire: Wire) -> int:
    """At most this many bytes does a batch with only this record have, as the broker's max.message.bytes counts."""
    headers = sum(
        len(name.encode("utf-8", "replace")) + len(value or b"") + HEADER_OVERHEAD for name, value in wire.headers
    )
    return BATCH_OVERHEAD + len(wire.key or b"") + len(wire.value or b"") + headers


def produce(
    cluster: Cluster, topic: str, records: Sequence[Outgoing], *, largest: int, seconds: float
) -> list[Delivery]:
    """Send the records in order and wait for their acknowledgements, at most `seconds`.

    `largest` is the topic's max.message.bytes. One Delivery per record; after one that is refused nothing more is
    sent. What is not acknowledged in time is thrown away here, and stays unknown.
    """
    deadline = time.monotonic() + seconds
    deliveries = [Delivery() for _ in records]
    settings = _settings(cluster, largest, seconds)
    producer = _producer(settings)
    try:
        _send(producer, topic, records, deliveries, deadline)
        producer.flush(max(0.0, deadline - time.monotonic()))
    finally:
        if len(producer) or any(not one.acked for one in deliveries):
            _discard(settings, producer)
    return deliveries


def _send(
    producer: Producer, topic: str, records: Sequence[Outgoing], deliveries: Sequence[Delivery], deadline: float
) -> None:
    for place, record in enumerate(records):
        refused = _enqueue(producer, topic, record, partial(_delivered, deliveries[place]), deadline)
        if refused is None:
            return
        if refused:
            deliveries[place].refused = refused
        if any(one.refused for one in deliveries[: place + 1]):
            for later in deliveries[place + 1 :]:
                later.refused = "an earlier record was refused"
            return


def _enqueue(
    producer: Producer,
    topic: str,
    record: Outgoing,
    delivered: Callable[[KafkaError | None, Message], None],
    deadline: float,
) -> str | None:
    """Hand one record to the producer: "" if it took it, why it refuses it, or None if there was no room in time."""
    key, value, headers = record.wire
    while time.monotonic() < deadline:
        try:
            producer.produce(topic, value, key, record.partition, on_delivery=delivered, headers=list(headers) or None)
        except BufferError:  # the local queue is full: wait until something of it is delivered, then the same record
            producer.poll(0.05)
        except KafkaException as error:
            return _line(error.args[0])
        except UnicodeEncodeError:
            return "a header's name is not text that Kafka could carry"
        else:
            producer.poll(0)
            return ""
    return None


def _delivered(delivery: Delivery, error: KafkaError | None, message: Message) -> None:
    if error is None:
        delivery.acked, delivery.partition, delivery.offset = True, message.partition(), message.offset()
    elif error.code() in NOT_SENT:
        delivery.refused = _line(error)
    else:
        delivery.error = _line(error)


def _line(error: KafkaError) -> str:
    return f"{error.name()}: {error.str()}"


_producers: dict[tuple[int, str], Producer] = {}


def _producer(settings: Settings) -> Producer:
    """This process's producer. A forked child makes its own: librdkafka's threads do not survive."""
    identity = _identity(settings)
    if identity not in _producers:
        _producers[identity] = Producer(settings, logger=log)
    return _producers[identity]


def _settings(cluster: Cluster, largest: int, seconds: float) -> Settings:
    return {
        "topic.metadata.propagation.max.ms": 3_000,  # a topic that is missing this long is missing
        "linger.ms": 0,
        "log_level": 2,  # every failure is in its Delivery
        **cluster.client_settings,
        "client.id": "siding-replay",
        "message.timeout.ms": math.ceil(seconds) * 1000,  # a second line: `produce` throws away what is late
        "enable.idempotence": True,  # acks=all, no duplicates, no reordering
        "enable.gapless.guarantee": True,  # after an error nothing overtakes
        "message.max.bytes": min(max(largest, 1000), 1_000_000_000),
    }


def _identity(settings: Settings) -> tuple[int, str]:
    return os.getpid(), repr(sorted(settings.items()))


def _discard(settings: Settings, producer: Producer) -> None:
    """Throw away what was not acknowledged, and the producer with it: the next one starts without a gap."""
    _producers.pop(_identity(settings), None)
    producer.purge(in_queue=True, in_flight=True)
    producer.flush(1.0)
