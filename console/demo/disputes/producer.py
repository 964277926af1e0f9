"""Sends a gentle stream of events: mostly healthy ones, and now and then a story of an account in trouble.

`python -m console.demo.disputes.producer`. Runs until it is told to stop; keeps nothing: on an
empty topic it begins with the opening stories.
"""

import itertools
import signal
import threading
import time
from collections.abc import Iterable, Iterator

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka import Message as Delivered

from console.demo.disputes.settings import settings
from console.demo.disputes.stories import FIRST_SEQUENCE, OPENING, QUIET, STORIES, TROUBLED, Message, Sender

TOPIC = "disputes"
BETWEEN_EVENTS = 0.7  # seconds
FIRST_STORY, SLOWER, LONGEST_PAUSE = 60.0, 1.5, 3600.0  # a console that nobody looks after must not drown


def connect(bootstrap: str) -> Producer:
    """A producer that sends each key to the partition that Java's would choose, in order, once."""
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "partitioner": "murmur2_random",
            "enable.idempotence": True,
            "linger.ms": 5,
        }
    )


def send(producer: Producer, messages: Iterable[Message]) -> None:
    """Hand messages to the producer; a failed delivery is told on standard output."""
    for message in messages:
        producer.produce(TOPIC, message.value, message.key, headers=message.headers, on_delivery=_delivered)
        producer.poll(0)


def _delivered(error: KafkaError | None, message: Delivered) -> None:
    if error is not None:
        print(f"producer: an event of {message.key()!r} was not delivered: {error}", flush=True)


def is_empty(bootstrap: str, topic: str) -> bool:
    """Whether nothing was ever sent to the topic."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "disputes-producer", "enable.auto.commit": False})
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ends = [consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)[1] for number in partitions]
    finally:
        consumer.close()
    return not any(ends)


def pauses() -> Iterator[float]:
    """Seconds between one story and the next: longer each time."""
    pause = FIRST_STORY
    while True:
        yield pause
        pause = min(pause * SLOWER, LONGEST_PAUSE)


class World:
    """What happens outside, one moment at a time: a healthy event, and the next of each story that is going on."""

    def __init__(self, sender: Sender, *, opening: bool) -> None:
        self._sender = sender
        self._going_on = [story(sender, account) for story, account in OPENING] if opening else []
        self._to_come = zip(pauses(), itertools.cycle(STORIES), itertools.cycle(TROUBLED), strict=False)
        self._pause, self._story, self._account = next(self._to_come)
        self._last = 0.0

    def moment(self, now: float) -> list[Message]:
        """What is sent at `now`, in seconds since the beginning."""
        if now - self._last >= self._pause:
            self._going_on.append(self._story(self._sender, self._account))
            self._pause, self._story, self._account = next(self._to_come)
            self._last = now
        told = [next(story, None) for story in self._going_on]
        self._going_on = [story for story, message in zip(self._going_on, told, strict=True) if message]
        healthy = self._sender.healthy(self._sender.random.choice(QUIET))
        return [*(message for message in told if message), healthy]


def run(bootstrap: str, stop: threading.Event) -> None:
    """Send until `stop` is set."""
    seed = time.time_ns()
    opening = is_empty(bootstrap, TOPIC)
    sender = Sender(seed=seed, first=FIRST_SEQUENCE + (0 if opening else seed // 1_000_000))
    world, producer = World(sender, opening=opening), connect(bootstrap)
    began = time.monotonic()
    while not stop.wait(BETWEEN_EVENTS):
        send(producer, world.moment(time.monotonic() - began))
    producer.flush(5)


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    run(settings().bootstrap_servers, stop)


if __name__ == "__main__":
    main()
