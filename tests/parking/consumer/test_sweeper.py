"""What nobody published any more goes out, after whatever went wrong."""

import threading

import pytest

from parking.attempt import Attempt
from parking.consumer.step import Work
from parking.consumer.sweeper import Sweeper
from tests.parking.consumer.service import Log, Service, source
from tests.waiting import wait_until


def left_behind(service: Service, *keys: bytes, first: int = 0) -> None:
    """Events were parked, and nobody published that."""
    for offset, key in enumerate(keys, first):
        step = service.gate.begin(source(f"e{offset}", offset, key=key))
        if isinstance(step, Work):
            step.failed([Attempt(1, 1, "E", "no")], None)


def test_the_thread_survives_whatever_goes_wrong(service: Service, log: Log, caplog: pytest.LogCaptureFixture) -> None:
    left_behind(service, b"b")
    with service.ledger.transaction("") as transaction:
        (record,) = transaction.connection.execute("SELECT record FROM siding_announcement").fetchone()
        transaction.execute("UPDATE siding_announcement SET record = :record", {"record": b"garbage"})
    stopping = threading.Event()
    sweeper = Sweeper(service.outbox, stopping)
    try:
        sweeper.soon()
        wait_until(lambda: "expected an 8-byte length" in caplog.text)
        with service.ledger.transaction("") as transaction:
            transaction.execute("UPDATE siding_announcement SET record = :record", {"record": bytes(record)})
        wait_until(lambda: log.said == ["poison e0"])
    finally:
        stopping.set()
