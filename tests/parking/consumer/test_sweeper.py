"""What nobody published any more goes out, whatever is wrong with one row of it."""

import threading
from dataclasses import dataclass, field

import pytest

from parking.attempt import Attempt
from parking.consumer.errors import Refused
from parking.consumer.step import Work
from parking.consumer.sweeper import Sweeper
from parking.wire import Wire
from tests.parking.consumer.service import Log, Service, source
from tests.waiting import wait_until


@dataclass
class Picky(Log):
    """A parking topic that takes nothing of one key."""

    refuses: bytes = b"a"
    error: Exception = field(default_factory=lambda: TypeError("no such record"))

    def publish(self, hold_key: bytes, published: Wire) -> None:
        if hold_key == self.refuses:
            raise self.error
        super().publish(hold_key, published)


@pytest.fixture
def log() -> Picky:
    return Picky()


def left_behind(service: Service, *keys: bytes, first: int = 0) -> None:
    """Events were parked, and nobody published that."""
    for offset, key in enumerate(keys, first):
        step = service.gate.begin(source(f"e{offset}", offset, key=key))
        if isinstance(step, Work):
            step.failed([Attempt(1, 1, "E", "no")], None)


@pytest.mark.parametrize("error", [TypeError("no such record"), Refused("Kafka: too large")])
def test_a_row_that_cannot_be_published_stops_only_its_key(
    service: Service, log: Picky, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    log.error = error
    left_behind(service, b"a", b"b")
    stopping = threading.Event()
    sweeper = Sweeper(service.outbox, stopping)
    try:
        sweeper.soon()
        wait_until(lambda: "row 1 of siding_announcement" in caplog.text)
        assert repr(error) in caplog.text
        wait_until(lambda: service.outbox.stopped == 1)
        assert (log.said, service.due) == (["poison e1"], 1)
        left_behind(service, b"a", b"b", b"c", first=2)
        wait_until(lambda: service.due == 2)
        assert log.said == ["poison e1", "held e3", "poison e4"], "what was left behind later goes out, too"
        log.refuses = b""
        wait_until(lambda: service.due == 0)
        wait_until(lambda: service.outbox.stopped == 0)
        assert log.said[3:] == ["poison e0", "held e2"]
    finally:
        stopping.set()


def test_the_thread_survives_whatever_goes_wrong(
    service: Service, log: Picky, caplog: pytest.LogCaptureFixture
) -> None:
    left_behind(service, b"b", b"c")
    broken = "UPDATE siding_announcement SET record = :record WHERE sequence = 1"
    with service.ledger.transaction("") as transaction:
        (record,) = transaction.connection.execute(
            "SELECT record FROM siding_announcement WHERE sequence = 1"
        ).fetchone()
        transaction.execute(broken, {"record": b"garbage"})
    stopping = threading.Event()
    sweeper = Sweeper(service.outbox, stopping)
    try:
        sweeper.soon()
        wait_until(lambda: "row 1 of siding_announcement cannot be published" in caplog.text)
        assert "expected an 8-byte length" in caplog.text
        assert log.said == ["poison e1"]
        with service.ledger.transaction("") as transaction:
            transaction.execute(broken, {"record": bytes(record)})
        wait_until(lambda: log.said == ["poison e1", "poison e0"])
    finally:
        stopping.set()
