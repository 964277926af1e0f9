"""Publishing to the parking topic: idempotent, acknowledged by all, every record of a hold key in one partition."""

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from parking.consumer.errors import Refused, Unavailable
from parking.partitioner import partition
from parking.wire import Wire, announcement

_ALWAYS = {"enable.idempotence": True, "acks": "all"}
_USUALLY = {
    "log_level": 2,  # what goes wrong becomes an error here
    "delivery.timeout.ms": 20_000,
    "message.max.bytes": 1_000_000_000,  # the topic decides what is too large, not this client
}
_ITS_OWN = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD)
"""Errors that speak against one record, not against the topic."""
METADATA_SECONDS = 60.0


class KafkaPublisher:
    """Publishes to the parking topic of one flow. `settings` are librdkafka client settings. Safe for threads."""

    def __init__(self, settings: Mapping[str, Any], topic: str) -> None:
        self._settings = {**_USUALLY, **settings, **_ALWAYS}
        self._topic = topic
        self._producer: Producer | None = None
        self._partitions = 0
        self._until = 0.0

    def publish(self, hold_key: bytes, wire: Wire) -> None:
        """Return once the record is acknowledged. One that is too large goes as a pointer.

        Raises Unavailable, and Refused where it is this record that the topic does not take.
        """
        error = self._send(hold_key, wire)
        if error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            error = self._send(hold_key, announcement.as_pointer(wire))
        if error is not None:
            if error.fatal():
                self._producer = None
            self._until = 0.0
            if error.code() in _ITS_OWN:
                raise Refused(f"Kafka: parking topic {self._topic} does not take this record: {error.str()}")
            raise Unavailable(f"Kafka: parking topic {self._topic} does not take records: {_advice(error)}")

    def close(self) -> None:
        """Forget the connection; nothing is waiting in it."""
        self._producer = None

    def _send(self, hold_key: bytes, wire: Wire) -> KafkaError | None:
        """Send and wait for the answer, which comes within `delivery.timeout.ms`."""
        answers: list[KafkaError | None] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            answers.append(error)

        try:
            producer = self._connected()
            place = partition(hold_key, self._partitions)
            producer.produce(
                self._topic, wire.value, wire.key, partition=place, headers=list(wire.headers), on_delivery=delivered
            )
            while not answers:
                producer.poll(0.1)
        except KafkaException as error:
            return _error(error)
        except BufferError as error:
            raise Unavailable("Kafka: the producer's queue is full") from error
        return answers[0]

    def _connected(self) -> Producer:
        """The producer, with a recent number of partitions."""
        producer = self._producer = self._producer or Producer(self._settings)
        if time.monotonic() > self._until:
            topic = producer.list_topics(self._topic, timeout=10.0).topics[self._topic]
            if topic.error is not None:
                raise KafkaException(topic.error)
            self._partitions = len(topic.partitions)
            self._until = time.monotonic() + METADATA_SECONDS
        return producer


def _error(error: KafkaException) -> KafkaError:
    inner = error.args[0]
    return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL)


def _advice(error: KafkaError) -> str:
    if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION):
        return f"it is missing or has lost partitions; create it ({error.str()})"
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return f"this user may not write to it; grant it ({error.str()})"
    return f"check the addresses, the network and the brokers ({error.str()})"
