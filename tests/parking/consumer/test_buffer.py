"""A busy key can open: after a `still-held` without poison its source owner waits for up to ten seconds."""

from collections.abc import Callable

import psycopg
import pytest

from parking.attempt import Attempt
from parking.consumer.ledger import rules
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.step import Done, Later, Work
from parking.wire import Announcement
from tests.parking.consumer.service import FLOW, Log, Service, source


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    """Poison e1 and held e2."""
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0), source("e2", 1))
    service.fails.clear()
    return log.announcements


@pytest.fixture(autouse=True)
def _longer_than_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take ten seconds for one."""
    monkeypatch.setattr(rules, "BUFFER_MS", 600_000)


def end_buffer(ledger: Ledger) -> None:
    """The time passes."""
    with ledger.transaction("") as transaction:
        transaction.execute("UPDATE siding_hold SET buffer_until = buffer_until - :all", {"all": rules.BUFFER_MS + 1})


def waits(service: Service, offset: int, name: str = "e3") -> Later:
    step = service.gate.begin(source(name, offset))
    assert isinstance(step, Later)
    assert step.seconds == 0.1
    return step


def test_what_comes_while_the_key_is_about_to_open_is_not_held(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    service.skip(parked[0], 10)
    service.release(10)
    assert log.said[-1] == "still-held"
    later = waits(service, 2)
    service.apply(parked[1], 10)
    assert isinstance(later.again(), Later)
    service.release(10)
    assert log.said[-2:] == ["applied e2", "released"]
    work = later.again()
    assert isinstance(work, Work)
    assert isinstance(work.applied(service.process_effect(work.event)), Done)
    assert service.applied == ["e2", "e3"]


def test_after_ten_seconds_it_is_held(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.skip(parked[0], 10)
    service.release(10)
    later = waits(service, 2)
    end_buffer(service.ledger)
    assert later.again() == Done(b"k")
    service.outbox.publish(None)
    assert log.said[-1] == "held e3"


def test_nobody_waits_behind_poison(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.release(10)
    assert log.said[-1] == "still-held"
    assert service.gate.begin(source("e3", 2)) == Done(b"k")


def test_a_failure_of_the_replay_ends_the_waiting(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.skip(parked[0], 10)
    service.release(10)
    later = waits(service, 2)
    service.fails[b"e2"] = ValueError("no")
    service.apply(parked[1], 10)
    assert later.again() == Done(b"k")
    service.outbox.publish(None)
    assert log.said[-1] == "held e3"


def test_at_whichever_look(make_service: Callable[..., Service], log: Log) -> None:
    """Its handler ran while the key was quarantined by the other partition, and about to open when it ended."""
    first, second = make_service(), make_service()
    works = [
        work
        for number, name in enumerate(("good", "bad"))
        if isinstance(work := first.gate.begin(source(name, number, partition=1)), Work)
    ]
    second.fails[b"e1"] = ValueError("no")
    second.take(source("e1", 0), source("e2", 1))
    second.fails.clear()
    second.skip(log.announcements[0], 10)
    second.release(10)
    good = works[0].applied(first.process_effect(works[0].event))
    bad = works[1].failed([Attempt(1, 1, "E", "no")], None)
    assert isinstance(good, Later)
    assert isinstance(bad, Later), "a failure waits too: the key is to open first"
    second.apply(log.announcements[1], 10)
    second.release(10)
    again = good.again()
    assert isinstance(again, Work)
    again.applied(first.process_effect(again.event))
    assert bad.again() == Done(b"k", parked=True, event=works[1].event), "and no handler is asked again"
    first.outbox.publish(None)
    assert log.said[-3:] == ["applied e2", "released", "poison bad"]


def test_the_quarantine_after_the_release_does_not_wait(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.skip(parked[0], 10)
    service.release(10)
    service.apply(parked[1], 10)
    service.release(10)
    service.fails[b"e3"] = ValueError("no")
    service.take(source("e3", 2), source("e4", 3))
    assert log.said[-2:] == ["poison e3", "held e4"]


def test_the_time_is_the_databases_after_the_lock(postgres: str, log: Log) -> None:
    """Not that of the transaction's beginning: it may have waited for the lock longer than the ten seconds."""
    ledger = PostgresLedger(postgres)
    ledger.prepare()
    with ledger.transaction(FLOW.name) as transaction:
        before = transaction.now_ms()
        transaction.connection.execute("SELECT pg_sleep(0.05)")
        assert transaction.now_ms() >= before + 50
    with psycopg.connect(postgres) as connection:
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp()) * 1000").fetchone()
    assert row is not None
    assert abs(float(row[0]) - before) < 60_000
    ledger.close()
