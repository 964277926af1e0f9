"""Ledger and broker go away and come back in the middle of an event: one line each, and nothing is lost."""

import logging
from collections.abc import Callable

import pytest

from parking.consumer.errors import Poison, Unavailable
from parking.consumer.insist import Insist
from tests.parking.consumer.service import Log, Service, source


class Flaky(Log):
    """A broker that is away for the first few tries."""

    away = 3

    def publish(self, hold_key, published) -> None:
        if self.away:
            self.away -= 1
            raise Unavailable("Kafka: parking topic p does not take records: check the addresses")
        super().publish(hold_key, published)


def test_a_broker_that_is_away(make_service: Callable[..., Service], caplog: pytest.LogCaptureFixture) -> None:
    log = Flaky()
    service = make_service(log=log)
    service.fails[b"e1"] = Poison("no")
    with caplog.at_level(logging.WARNING):
        service.take(source("e1", 0), source("e2", 1))
    assert log.said == ["poison e1", "held e2"]
    assert len(service.seen) == 1, "waiting for the broker is no reason to decide again"
    assert [record.message for record in caplog.records] == [
        "Kafka: parking topic p does not take records: check the addresses; trying again",
        "works again: Kafka",
    ]


def test_business_tables_that_are_missing_are_waited_for(
    service: Service, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    """A forgotten migration is no reason to park events."""
    with service.ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE effect RENAME TO hidden")

    def migrate(seconds: float) -> None:
        with service.ledger.transaction("") as transaction:
            transaction.connection.execute("ALTER TABLE hidden RENAME TO effect")

    with caplog.at_level(logging.WARNING):
        service.process(source("e1", 0), migrate)
    assert service.applied == ["e1"]
    assert log.said == []
    assert "a table is missing: run ledger.prepare() and the service's own migrations" in caplog.records[0].message


def test_the_waits_grow_up_to_a_limit_and_each_new_complaint_is_said(caplog: pytest.LogCaptureFixture) -> None:
    waits: list[float] = []
    complaints = ["a: 1", "a: 1", "b: 2", "b: 2", "b: 2", "b: 2", "b: 2", "b: 2"]

    def call() -> str:
        if complaints:
            raise Unavailable(complaints.pop(0))
        return "done"

    with caplog.at_level(logging.WARNING):
        assert Insist().until_it_works(call, waits.append) == "done"
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    assert [record.message for record in caplog.records] == [
        "a: 1; trying again",
        "b: 2; trying again",
        "works again: b",
    ]
