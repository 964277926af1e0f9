"""The service's own events: in one transaction with the state, and on the topic in order, whatever happens between."""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from parking.consumer import Effect, Event, Outgoing, Poison, Relay
from parking.consumer.ledger.ledger import Ledger
from tests.parking.consumer.service import Service, source
from tests.waiting import wait_until


@pytest.fixture
def outgoing(ledger: Ledger) -> Outgoing:
    return Outgoing("disputes", ledger)


def telling(service: Service, outgoing: Outgoing, topic: str) -> Callable[[Event], Effect]:
    """A handler that writes a state and an event of its own about it."""

    def handler(event: Event) -> Effect:
        def write(connection: Any) -> None:
            outgoing.put(connection, topic, event.key, b"decided " + (event.value or b""), (("a", b"1"), ("a", None)))
            service.write(event)(connection)
            if event.value == b"bad":
                raise Poison("the state cannot be so")

        return Effect(write)

    return handler


def due(outgoing: Outgoing) -> int:
    with outgoing.ledger.transaction("", write=False) as transaction:
        return int(transaction.connection.execute("SELECT count(*) FROM siding_outgoing").fetchone()[0])


def test_state_and_event_are_one_transaction(service: Service, outgoing: Outgoing) -> None:
    service.process._trying.handler = telling(service, outgoing, "told")
    service.take(source("e1", 0), source("e1", 0), source("bad", 1, key=b"other"))
    assert service.applied == ["e1"]
    assert due(outgoing) == 1
    assert 0 <= outgoing.oldest() < 60


@pytest.mark.kafka
def test_the_relay_publishes_in_order_and_forgets_what_is_acknowledged(
    service: Service, outgoing: Outgoing, kafka: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic("told")
    service.process._trying.handler = telling(service, outgoing, topic)
    service.take(*(source(f"e{n}", n) for n in range(5)))
    relay = Relay(outgoing, {"bootstrap.servers": kafka})
    thread = relay.start()
    wait_until(lambda: due(outgoing) == 0)
    service.take(source("e5", 5))
    wait_until(lambda: due(outgoing) == 0)
    relay.stop()
    thread.join(10)
    assert outgoing.oldest() == 0
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "none"})
    reader.assign([TopicPartition(topic, 0, 0)])
    messages = reader.consume(6, 20)
    reader.close()
    assert [message.value() for message in messages] == [b"decided e%d" % n for n in range(6)]
    assert messages[0].headers() == [("a", b"1"), ("a", None)]


def test_what_is_not_acknowledged_stays(service: Service, outgoing: Outgoing) -> None:
    service.process._trying.handler = telling(service, outgoing, "told")
    service.take(source("e1", 0))
    relay = Relay(outgoing, {"bootstrap.servers": "127.0.0.1:1", "delivery.timeout.ms": 300, "linger.ms": 0})
    with pytest.raises(Exception, match="the outbox cannot be published"):
        relay.publish()
    assert due(outgoing) == 1
