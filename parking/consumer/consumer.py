"""The loop around a service's handler: Kafka in, gate, Kafka out, offset last."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from parking import topics
from parking.consumer.errors import Interrupted, Unavailable
from parking.consumer.flow import Flow
from parking.consumer.gate import Gate
from parking.consumer.insist import Insist
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.outbox import Outbox
from parking.consumer.process import Process
from parking.consumer.publisher import KafkaPublisher
from parking.consumer.subscription import Subscription
from parking.consumer.tries import Handler, Retries
from parking.consumer.worker import Worker

log = logging.getLogger("parking.consumer")
SWEEP_SECONDS = 10.0


class Consumer:
    """Consumes the source and the replay topic of one flow, one event at a time.

    `handler(event)` decides and returns an Effect, a function that writes on the ledger's connection, or None; it may
    raise Poison, RateLimited or anything else. `kafka` are librdkafka client settings (bootstrap.servers, security).
    """

    def __init__(
        self,
        flow: Flow,
        ledger: Ledger,
        handler: Handler,
        *,
        kafka: Mapping[str, Any],
        retries: Retries = Retries(),  # noqa: B008 -- frozen
        stop_within: float = 30.0,
    ) -> None:
        self._flow = flow
        self._ledger = ledger
        self._kafka = dict(kafka)
        self._stop_within = stop_within
        self._stopping = threading.Event()
        self._publisher = KafkaPublisher(self._kafka, flow.parking_topic)
        self._outbox = Outbox(flow.name, ledger, self._publisher)
        self._process = Process(Gate(flow, ledger), self._outbox, handler, retries)

    def stop(self) -> None:
        """Ask the loop to end after the event at hand; an event that only waits is left unfinished."""
        self._stopping.set()

    def run(self) -> None:
        """Consume until `stop`, SIGTERM or SIGINT. What is unavailable is waited for, and said in one line."""
        with _signals(self.stop):
            try:
                Insist(self._wait)(self._check)
                self._consume()
            except Interrupted:
                log.info("flow %s: stopped before it began", self._flow.name)

    def _check(self) -> None:
        """Raise Unavailable unless ledger and topics are fit."""
        self._ledger.check()
        flow = self._flow
        try:
            found = topics.faults(
                self._kafka, source=flow.source_topic, parking=flow.parking_topic, replay=flow.replay_topic
            )
        except topics.Unreachable as error:
            raise Unavailable(str(error)) from error
        if found:
            raise Unavailable("; ".join(found))

    def _consume(self) -> None:
        worker = Worker(f"siding {self._flow.name}")
        subscription = Subscription(self._kafka, self._flow, self._stopping)
        log.info("flow %s: consuming %s and %s", self._flow.name, self._flow.source_topic, self._flow.replay_topic)
        try:
            while not self._stopping.is_set():
                self._next(subscription, worker)
        finally:
            subscription.close()
            worker.end()
            self._publisher.close()
            self._ledger.close()
            log.info("flow %s: stopped", self._flow.name)

    def _next(self, subscription: Subscription, worker: Worker) -> None:
        if subscription.sweep_is_due(SWEEP_SECONDS):
            sweep = worker.start(partial(Insist(self._wait), self._outbox.publish))
            subscription.until(sweep, within=self._stop_within)
        taken = subscription.next(timeout=0.5)
        if taken is not None:
            work = worker.start(partial(self._process, taken.record, taken.wait))
            if subscription.until(work, within=self._stop_within):
                subscription.finished(taken)

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT, where this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
