"""What Kafka, the sample service's own database and the console's store say, each asked directly."""

from typing import Any

import psycopg
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka import Message as KafkaMessage

from console.demo.check.audit import Effect, Parked, Sent
from parking.event_id import event_id
from parking.fingerprint import fingerprint
from parking.models import ParkedEvent
from parking.record import Headers, Record

READ_SECONDS = 30.0
POLL_SECONDS = 0.5


def sent(bootstrap: str, topic: str) -> list[Sent]:
    """Every record that the topic has at this moment, from its first to its last."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "demo-check", "enable.auto.commit": False})
    try:
        numbers = consumer.list_topics(topic, timeout=READ_SECONDS).topics[topic].partitions
        return [record for number in sorted(numbers) for record in _partition(consumer, topic, number)]
    finally:
        consumer.close()


def _partition(consumer: Consumer, topic: str, number: int) -> list[Sent]:
    first, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=READ_SECONDS)
    records: list[Sent] = []
    consumer.assign([TopicPartition(topic, number, first)] if first < end else [])
    at = first
    while at < end:
        for message in consumer.consume(500, timeout=POLL_SECONDS) or []:
            at = (message.offset() or 0) + 1
            if at <= end:
                records.append(_sent(message))
    return records


def _sent(message: KafkaMessage) -> Sent:
    given: Any = message.headers() or []
    headers: Headers = tuple(given)
    key, value = message.key(), message.value()
    place = (message.partition() or 0, message.offset() or 0)
    record = Record(message.topic() or "", *place, message.timestamp()[1], key, value, headers)
    return Sent(place, event_id(record), key, fingerprint(key, value, headers))


def effects(database_url: str, *, accounts: list[str] | None = None) -> list[Effect]:
    """The effects of these accounts (None: all) in the order in which they were written."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            """SELECT number, source_partition, source_offset, event_id, account, fingerprint FROM effect
               WHERE %(all)s OR account = ANY(%(accounts)s) ORDER BY number""",
            {"all": accounts is None, "accounts": accounts or []},
        )
        return [Effect(row[0], (row[1], row[2]), row[3], row[4], bytes(row[5])) for row in rows]


def parked(flow: str) -> list[Parked]:
    """Every event of the flow that the console has, settled or not."""
    events = ParkedEvent.objects.filter(event_state__flow__name=flow, source_offset__isnull=False)
    return [
        Parked(
            place=(event.source_partition or 0, event.source_offset or 0),
            event_id=event.event_id,
            state=event.event_state.state,
            amendments=frozenset(bytes(copy.fingerprint) for copy in event.event_state.amendments.all()),
        )
        for event in events.select_related("event_state").prefetch_related("event_state__amendments")
    ]
