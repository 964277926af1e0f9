"""Events of the service's own: written in one transaction with the state that they tell of, published afterwards."""

import threading
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from parking.consumer.errors import Interrupted, Unavailable
from parking.consumer.insist import Insist
from parking.consumer.ledger.ledger import Ledger
from parking.fields import pack, unpack
from parking.record import Headers

_WRITE = "INSERT INTO siding_outgoing (flow, topic, record, at) VALUES (:flow, :topic, :record, siding_now_ms())"
_DUE = "SELECT sequence, topic, record FROM siding_outgoing WHERE flow = :flow ORDER BY sequence LIMIT :most"
_OLDEST = "SELECT min(at) FROM siding_outgoing WHERE flow = :flow"
_SENT = "DELETE FROM siding_outgoing WHERE sequence = :sequence"
_ALWAYS = {"enable.idempotence": True, "acks": "all", "partitioner": "murmur2_random"}
BATCH = 500
REST = 0.5
"""Seconds between two looks where there is nothing to publish."""


class Outgoing:
    """The outbox of a service, in the tables of its ledger."""

    def __init__(self, flow: str, ledger: Ledger) -> None:
        self.flow = flow
        self.ledger = ledger

    def put(self, connection: Any, topic: str, key: bytes | None, value: bytes | None, headers: Headers = ()) -> None:
        """Called in an effect's write, with its connection: the record goes out if, and only if, the write commits."""
        header_fields = (field for name, content in headers for field in (name.encode(), content))
        values = {"flow": self.flow, "topic": topic, "record": pack([key, value, *header_fields])}
        self.ledger.on(self.flow, connection).execute(_WRITE, values)

    def oldest(self) -> float:
        """For how many seconds the oldest unsent record has waited; 0 if none does. Raises Unavailable."""
        with self.ledger.transaction(self.flow, write=False) as transaction:
            rows, _ = transaction.execute(_OLDEST, {"flow": self.flow})
            return 0.0 if rows[0][0] is None else max((transaction.now_ms() - rows[0][0]) / 1000, 0.0)


class Relay:
    """Publishes what is in an outbox, in order. At least once: a crash before the acknowledgement sends again.

    Any number of processes may run one; then the same record may go out twice, and its order holds per process.
    """

    def __init__(self, outgoing: Outgoing, kafka: Mapping[str, Any]) -> None:
        self._outgoing = outgoing
        self._producer = Producer({"log_level": 2, "delivery.timeout.ms": 20_000, **kafka, **_ALWAYS})
        self._stopping = threading.Event()

    def publish(self) -> int:
        """Publish one batch of what is due and forget what is acknowledged; how many. Raises Unavailable."""
        flow, ledger = self._outgoing.flow, self._outgoing.ledger
        with ledger.transaction(flow, write=False) as transaction:
            rows, _ = transaction.execute(_DUE, {"flow": flow, "most": BATCH})
        failures: list[KafkaError] = []
        for _, topic, record in rows:
            self._produce(topic, bytes(record), failures)
        self._producer.flush()
        if failures:
            raise Unavailable(f"Kafka: the outbox cannot be published: {failures[0].str()}")
        with ledger.transaction(flow) as transaction:
            for sequence, *_ in rows:
                transaction.execute(_SENT, {"sequence": sequence})
        return len(rows)

    def start(self) -> threading.Thread:
        """Publish on a daemon thread until `stop`; what is unavailable is waited for, and said in one line."""
        thread = threading.Thread(target=self._run, name="siding relay", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End the thread after the batch at hand."""
        self._stopping.set()

    def _run(self) -> None:
        insist = Insist()
        try:
            while not self._stopping.is_set():
                if insist.until_it_works(self.publish, self._wait) == 0:
                    self._wait(REST)
        except Interrupted:
            return

    def _produce(self, topic: str, record: bytes, failures: list[KafkaError]) -> None:
        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                failures.append(error)

        key, value, *rest = unpack(record)
        headers: list[tuple[str, str | bytes | None]] = [
            ((name or b"").decode(), content) for name, content in zip(rest[::2], rest[1::2], strict=True)
        ]
        try:
            self._producer.produce(topic, value, key, headers=headers, on_delivery=delivered)
        except KafkaException as error:
            raise Unavailable(f"Kafka: the outbox cannot be published: {error.args[0].str()}") from error

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted
