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
from console.demo.disputes.stories import OPENING, QUIET, STORIES, TROUBLED, Message, Sender

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


def run(bootstrap: str, stop: threading.Event) -> None:
    """Send until `stop` is set."""
    now = time.time_ns()
    sender = Sender(seed=now)
    producer = connect(bootstrap)
    if is_empty(bootstrap, TOPIC):
        for story, account in OPENING:
            send(producer, story(sender, account))
    sender.sequence += now // 1_000_000
    stories = zip(pauses(), itertools.cycle(STORIES), itertools.cycle(TROUBLED), strict=False)
    pause, story, account = next(stories)
    due = time.monotonic() + pause
    while not stop.wait(BETWEEN_EVENTS):
        send(producer, [sender.healthy(sender.random.choice(QUIET))])
        if time.monotonic() >= due:
            send(producer, story(sender, account))
            pause, story, account = next(stories)
            due = time.monotonic() + pause
    producer.flush(5)


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    run(settings().bootstrap_servers, stop)


if __name__ == "__main__":
    main()
