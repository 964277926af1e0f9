"""The service's own events: in one transaction with the state, and on the topic in order, whatever happens between."""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from parking.consumer import Effect, Event, Outgoing, Poison, Relay
from parking.consumer.errors import Unavailable
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.outgoing import BATCH
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
    thread.join(60)
    assert outgoing.oldest() == 0
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "none"})
    reader.assign([TopicPartition(topic, 0, 0)])
    messages = reader.consume(6, 60)
    reader.close()
    assert [message.value() for message in messages] == [b"decided e%d" % n for n in range(6)]
    assert messages[0].headers() == [("a", b"1"), ("a", None)]


def put(outgoing: Outgoing, topic: str, *events: tuple[bytes | None, bytes]) -> None:
    with outgoing.ledger.transaction("") as transaction:
        for key, value in events:
            outgoing.put(transaction.connection, topic, key, value)


def told(kafka: str, topic: str, count: int) -> list[bytes | None]:
    reader = Consumer({"bootstrap.servers": kafka, "group.id": "none"})
    reader.assign([TopicPartition(topic, 0, 0)])
    messages = reader.consume(count, 60)
    reader.close()
    return [message.value() for message in messages]


LARGE = b"x" * 2_000


@pytest.mark.kafka
@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_a_row_that_cannot_be_sent_stops_only_its_key(
    outgoing: Outgoing, kafka: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic("told")
    put(outgoing, topic, (b"a", b"a1"), (b"a", LARGE), (b"b", b"b1"), (b"a", b"a2"), (None, LARGE), (None, b"n1"))
    put(outgoing, topic, *[(b"a", b"a3")] * BATCH, (b"c", b"c1"))
    relay = Relay(outgoing, {"bootstrap.servers": kafka, "message.max.bytes": 1_500})
    with pytest.raises(Unavailable, match=r"row 2 of siding_outgoing for topic .*too large"):
        relay.publish()
    assert told(kafka, topic, 4) == [b"a1", b"b1", b"n1", b"c1"]
    assert due(outgoing) == BATCH + 3
    assert relay.stopped == 2, "the lines of the two that are too large"


@pytest.mark.kafka
@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_a_producer_that_is_broken_for_good_is_made_anew(
    outgoing: Outgoing, kafka: str, make_topic: Callable[..., str]
) -> None:
    """What librdkafka calls fatal: here a record that the broker refuses, and an order that must have no gap."""
    topic = make_topic("told", **{"max.message.bytes": "1000"})
    relay = Relay(outgoing, {"bootstrap.servers": kafka, "enable.gapless.guarantee": True, "log_level": 0})
    put(outgoing, topic, (b"a", b"a1"))
    assert relay.publish() == 1
    put(outgoing, topic, (b"b", LARGE))
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"row 2 of siding_outgoing for topic .*too large"):
            relay.publish()
    with outgoing.ledger.transaction("") as transaction:
        transaction.execute("DELETE FROM siding_outgoing WHERE sequence = 2", {})
    put(outgoing, topic, (b"a", b"a2"))
    assert relay.publish() == 1
    assert told(kafka, topic, 2) == [b"a1", b"a2"]


@pytest.mark.kafka
@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_a_full_queue_is_waited_for(outgoing: Outgoing, kafka: str, make_topic: Callable[..., str]) -> None:
    topic = make_topic("told")
    put(outgoing, topic, *((b"k", b"e%d" % n) for n in range(5)))
    settings = {"bootstrap.servers": kafka, "queue.buffering.max.messages": 2, "linger.ms": 1_000}
    assert Relay(outgoing, settings).publish() == 5
    assert told(kafka, topic, 5) == [b"e%d" % n for n in range(5)]


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_the_relay_survives_whatever_goes_wrong(outgoing: Outgoing, caplog: pytest.LogCaptureFixture) -> None:
    with outgoing.ledger.transaction("") as transaction:
        row = {"flow": outgoing.flow, "topic": "told", "record": b"garbage", "at": 1}
        transaction.execute(
            "INSERT INTO siding_outgoing (flow, topic, record, at) VALUES (:flow, :topic, :record, :at)", row
        )
    relay = Relay(outgoing, {"bootstrap.servers": "127.0.0.1:1"})
    thread = relay.start()
    wait_until(lambda: "siding_outgoing" in caplog.text)
    assert thread.is_alive()
    relay.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_what_is_not_acknowledged_stays(service: Service, outgoing: Outgoing) -> None:
    service.process._trying.handler = telling(service, outgoing, "told")
    service.take(source("e1", 0))
    relay = Relay(outgoing, {"bootstrap.servers": "127.0.0.1:1", "delivery.timeout.ms": 300, "linger.ms": 0})
    with pytest.raises(Exception, match="the outbox cannot be published"):
        relay.publish()
    assert due(outgoing) == 1
