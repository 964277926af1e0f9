"""Events of the service's own: written in one transaction with the state that they tell of, published afterwards."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from parking.consumer.aside import callbacks
from parking.consumer.errors import Interrupted, Unavailable
from parking.consumer.insist import Insist, survive
from parking.consumer.ledger.ledger import Ledger
from parking.fields import pack, unpack
from parking.record import Headers

_WRITE = "INSERT INTO siding_outgoing (flow, topic, record, at) VALUES (:flow, :topic, :record, siding_now_ms())"
_DUE = (
    "SELECT sequence, topic, record FROM siding_outgoing WHERE flow = :flow AND sequence > :after "
    "ORDER BY sequence LIMIT :most"
)
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
        self._settings = {"log_level": 2, "delivery.timeout.ms": 20_000, **callbacks(kafka), **_ALWAYS}
        self._producer: Producer | None = None
        self._stopping = threading.Event()
        self.stopped = 0
        """How many lines (topic and key) have a row that could not be sent at the last look; a gauge for Counters."""

    def publish(self) -> int:
        """Publish what is due, in order, and forget what is acknowledged; how many.

        A row that cannot be sent stays, and so do those behind it that have its topic and key; all others go out.
        Raises Unavailable, naming the first row that stays.
        """
        stays: dict[object, str] = {}
        after = count = 0
        while True:
            rows = self._due(after)
            sent, failed = self._send(rows, stays)
            self._forget(sent)
            count += len(sent)
            if len(rows) < BATCH or (failed and not sent) or self._stopping.is_set():
                break
            after = rows[-1][0]
        self.stopped = len(stays)
        if stays:
            raise Unavailable(f"Kafka: the outbox cannot be published: {next(iter(stays.values()))}")
        return count

    def start(self) -> threading.Thread:
        """Publish on a daemon thread until `stop`; whatever goes wrong is tried again, and said in one line."""
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
                if insist.until_it_works(partial(survive, self.publish), self._wait) == 0:
                    self._wait(REST)
        except Interrupted:
            return

    def _due(self, after: int) -> Sequence[Sequence[Any]]:
        flow = self._outgoing.flow
        with self._outgoing.ledger.transaction(flow, write=False) as transaction:
            rows, _ = transaction.execute(_DUE, {"flow": flow, "after": after, "most": BATCH})
        return rows

    def _forget(self, sent: list[int]) -> None:
        with self._outgoing.ledger.transaction(self._outgoing.flow) as transaction:
            for sequence in sent:
                transaction.execute(_SENT, {"sequence": sequence})

    def _send(self, rows: Sequence[Sequence[Any]], stays: dict[object, str]) -> tuple[list[int], bool]:
        """The rows to forget, and whether one was not acknowledged. `stays`: which lines wait, and why."""
        batch = _Batch()
        for sequence, topic, record in rows:
            line: object = sequence
            try:
                fields = unpack(bytes(record))
                line = sequence if fields[0] is None else (topic, fields[0])
                if line not in stays:
                    self._produce(batch, sequence, topic, fields)
                    batch.tried.append((sequence, topic, line))
            except Exception as error:  # noqa: BLE001 -- whatever is wrong with this row, the others go on
                stays[line] = _named(sequence, topic, error)
                self._give_up_after(error)
        self._flush(batch)
        for sequence, topic, line in batch.unacknowledged:
            stays.setdefault(line, _named(sequence, topic, batch.failed.get(sequence, batch.broken)))
        return batch.to_forget(), bool(batch.unacknowledged)

    def _produce(self, batch: "_Batch", sequence: int, topic: str, fields: list[bytes | None]) -> None:
        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is None:
                batch.acknowledged.add(sequence)
            else:
                batch.failed[sequence] = error

        key, value, *rest = fields
        headers: list[tuple[str, str | bytes | None]] = [
            ((name or b"").decode(), content) for name, content in zip(rest[::2], rest[1::2], strict=True)
        ]
        try:
            self._connected().produce(topic, value, key, headers=headers, on_delivery=delivered)
        except BufferError:  # the client's queue is full
            self._flush(batch)
            self._connected().produce(topic, value, key, headers=headers, on_delivery=delivered)

    def _flush(self, batch: "_Batch") -> None:
        """Wait until everything of the batch is acknowledged, or is known to have failed."""
        try:
            self._connected().flush()
        except KafkaException as error:
            batch.broken = error
            self._give_up_after(error)

    def _connected(self) -> Producer:
        self._producer = self._producer or Producer(self._settings)
        return self._producer

    def _give_up_after(self, error: Exception) -> None:
        """What the library calls fatal ends its producer for good: the next one is made anew."""
        inner = error.args[0] if isinstance(error, KafkaException) else None
        if isinstance(inner, KafkaError) and (inner.fatal() or inner.code() == KafkaError._FATAL):
            self._producer = None

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted


@dataclass(slots=True)
class _Batch:
    """Rows on their way: number, topic and line of each, in order, and what became of them."""

    tried: list[tuple[int, str, object]] = field(default_factory=list)
    acknowledged: set[int] = field(default_factory=set)
    failed: dict[int, KafkaError] = field(default_factory=dict)
    broken: Exception = field(default_factory=lambda: Unavailable("not acknowledged"))

    @property
    def unacknowledged(self) -> list[tuple[int, str, object]]:
        return [row for row in self.tried if row[0] not in self.acknowledged]

    def to_forget(self) -> list[int]:
        """The acknowledged rows with nothing before them in their line that failed; the rest goes out again."""
        lost, sent = set(), []
        for sequence, _, line in self.tried:
            if sequence not in self.acknowledged:
                lost.add(line)
            elif line not in lost:
                sent.append(sequence)
        return sent


def _named(sequence: int, topic: str, error: Exception | KafkaError) -> str:
    inner = error.args[0] if isinstance(error, KafkaException) else error
    why = inner.str() if isinstance(inner, KafkaError) else f"{type(error).__name__}: {error}"
    return f"row {sequence} of siding_outgoing for topic {topic}: {why}"
