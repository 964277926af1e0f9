"""What is sent: events of a hundred accounts in no particular order, one in thirty of them poison."""

import threading
from random import Random

from confluent_kafka import Producer

from console.demo.disputes import producer
from console.demo.disputes.stories import Message, Sender

ACCOUNTS = tuple(f"acc-{number}" for number in range(900_000, 900_100))
A_SECOND = 25
POISON = 1 / 30


def event(sender: Sender, random: Random) -> Message:
    """The next event; poison is what a person can mend, or skip."""
    account = random.choice(ACCOUNTS)
    if random.random() < POISON:
        return sender.event("EvidenceAdded", account, evidence="fax")
    return sender.event(random.choices(("EvidenceAdded", "LimitChanged", "RefundRequested"), (6, 6, 1))[0], account)


def send(kafka: Producer, sender: Sender, random: Random, stop: threading.Event) -> None:
    """Until `stop` is set; what the broker has not acknowledged then, while it is away, is waited for."""
    while not stop.wait(1 / A_SECOND):
        producer.send(kafka, [event(sender, random)])
    kafka.flush(120)
