"""The loop around a service's handler: Kafka in, gate, Kafka out, offset last."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from parking import topics
from parking.consumer.aside import callbacks
from parking.consumer.coroutines import Coroutines
from parking.consumer.counters import Counters
from parking.consumer.dependency import Dependency
from parking.consumer.dispatch import Dispatch
from parking.consumer.errors import Interrupted, Unavailable
from parking.consumer.flow import Flow
from parking.consumer.gate import Gate
from parking.consumer.insist import Insist
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.limits import Limits
from parking.consumer.outbox import Outbox
from parking.consumer.partitions import Partitions
from parking.consumer.process import Process
from parking.consumer.publisher import KafkaPublisher
from parking.consumer.purger import Purge, Purger
from parking.consumer.schedule import Schedule
from parking.consumer.subscription import Subscription
from parking.consumer.suspects import Suspects
from parking.consumer.sweeper import Sweeper
from parking.consumer.together import Together
from parking.consumer.tries import AnyHandler, Retries, is_async
from parking.consumer.watch import Watcher
from parking.consumer.workers import Workers

log = logging.getLogger("parking.consumer")
TURN = 0.1
"""Seconds that a turn of the loop waits for records: what is finished is committed at least as often."""


class KeyedConsumer:
    """Consumes the source and the replay topic of one flow: parallel across hold keys, in order within each.

    `handler(event)` decides and returns an Effect, a function that writes on the ledger's connection, or None; it may
    raise Poison, Invalid, RateLimited or anything else. It runs on threads, or on an event loop if it is `async def`.
    `kafka` are librdkafka client settings (bootstrap.servers, security). `watchers` hear of each record: Counters, a
    Ladder, Duplicates. `purge` says when old fates are forgotten; None: never by itself.
    """

    def __init__(
        self,
        flow: Flow,
        ledger: Ledger,
        handler: AnyHandler,
        *,
        kafka: Mapping[str, Any],
        retries: Retries = Retries(),  # noqa: B008 -- frozen
        limits: Limits = Limits(),  # noqa: B008 -- frozen
        dependencies: Sequence[Dependency] = (),
        watchers: Sequence[Watcher] = (),
        purge: Purge | None = Purge(),  # noqa: B008 -- frozen
    ) -> None:
        self._flow = flow
        self._ledger = ledger
        self._kafka = callbacks(kafka)
        self._limits = limits
        self._purge = purge
        self._handler = handler
        self._stopping = threading.Event()
        self._dispatch = Dispatch(Schedule(per_partition=limits.per_partition, overall=limits.overall))
        self._publisher = KafkaPublisher(self._kafka, flow.parking_topic)
        self._outbox = Outbox(flow.name, ledger, self._publisher)
        gate = Gate(flow, ledger, commit=Together(flow.name, ledger).commit)
        self._suspects = Suspects(flow.name, ledger, retries.attempts, limits.suspects)
        self._process = Process(
            gate, self._outbox, handler, retries, dependencies=dependencies, suspects=self._suspects, watchers=watchers
        )
        for counters in (watcher for watcher in watchers if isinstance(watcher, Counters)):
            counters.gauges |= {
                "in_flight": lambda: self._dispatch.running,
                "oldest_unfinished_seconds": self._dispatch.oldest,
                "oldest_unsent_seconds": self._outbox.oldest,
                "stopped_keys": lambda: self._outbox.stopped,
            }

    def stop(self) -> None:
        """Ask the loop to end after what is being handled; an event that only waits is left unfinished."""
        self._stopping.set()

    def run(self) -> None:
        """Consume until `stop`, SIGTERM or SIGINT. What is unavailable is waited for, and said in one line."""
        with _signals(self.stop):
            try:
                Insist().until_it_works(self._check, self._wait)
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
        dispatch = self._dispatch
        sweeper = Sweeper(self._outbox, self._stopping)
        if self._purge is not None:
            Purger(self._flow, self._ledger, self._kafka, self._purge, stopping=self._stopping)
        partitions = Partitions(
            self._flow, dispatch, self._limits, self._process, arrived=sweeper.soon, suspects=self._suspects
        )
        subscription = Subscription(self._kafka, self._flow, partitions)
        work = self._start_work(dispatch)
        log.info("flow %s: consuming %s and %s", self._flow.name, self._flow.source_topic, self._flow.replay_topic)
        try:
            while not self._stopping.is_set() and dispatch.broken is None:
                self._turn(subscription, partitions, dispatch)
            self._finish(subscription, dispatch)
        finally:
            dispatch.end()
            subscription.close()
            work.end()
            self._publisher.close()
            self._ledger.close()
            log.info("flow %s: stopped", self._flow.name)
        if dispatch.broken is not None:
            raise dispatch.broken

    def _start_work(self, dispatch: Dispatch) -> Coroutines | Workers:
        name = f"siding {self._flow.name}"
        if is_async(self._handler):
            return Coroutines(dispatch, name)
        return Workers(dispatch, self._limits.overall, name)

    def _turn(self, subscription: Subscription, partitions: Partitions, dispatch: Dispatch) -> None:
        partitions.put(subscription.read(TURN))
        subscription.commit(dispatch.positions())
        subscription.pause(partitions.full(subscription.places))

    def _finish(self, subscription: Subscription, dispatch: Dispatch) -> None:
        """Let what is being handled end, within the limit; we stay a member of the group meanwhile."""
        dispatch.end()
        deadline = time.monotonic() + self._limits.stop
        while dispatch.running and time.monotonic() < deadline:
            subscription.pause(subscription.places)
            subscription.read(TURN / 10)  # keeps us a member; what comes now is read again by whoever comes next
            subscription.commit(dispatch.positions())
        if dispatch.running:
            log.warning(
                "%d handlers did not end within %.0f s; their events are left unfinished",
                dispatch.running,
                self._limits.stop,
            )

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
