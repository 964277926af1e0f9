"""Two owners of one key at the same moment, on PostgreSQL: each pair of transactions that touch one key.

The first one stands still just before its commit while the second one begins: what it reads must be what was decided.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from typing import Any

import psycopg
import pytest

from parking.attempt import Attempt
from parking.consumer.effect import Effect
from parking.consumer.errors import Poison
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.step import Done, Work
from parking.record import Record
from parking.wire import Announcement
from tests.parking.consumer.service import EFFECTS, Log, Service, command, source

SOON = 0.3
LATE = 20.0


class Standing(PostgresLedger):
    """A ledger whose next write stands still before its commit until it may go on."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(conninfo)
        self.stands, self.may_go_on = threading.Event(), threading.Event()
        self.armed = False

    def _commit(self, connection: Any) -> None:
        if self.armed and not connection.autocommit:
            self.armed = False
            self.stands.set()
            assert self.may_go_on.wait(LATE)
        super()._commit(connection)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make(postgres: str, log: Log) -> Iterator[Callable[[], Service]]:
    PostgresLedger(postgres).prepare()
    with psycopg.connect(postgres) as connection:
        connection.execute(EFFECTS)
    clock = iter(range(1_000_000, 2_000_000))
    made: list[Service] = []

    def service() -> Service:
        made.append(Service(Standing(postgres), log, mark="%s", now=lambda: next(clock)))
        return made[-1]

    yield service
    for one in made:
        one.ledger.close()


@pytest.fixture
def first(make: Callable[[], Service]) -> Service:
    return make()


@pytest.fixture
def second(make: Callable[[], Service]) -> Service:
    return make()


@pytest.fixture
def parked(first: Service, log: Log) -> list[Announcement]:
    first.fails[b"e1"] = Poison("no")
    first.take(source("e1", 0))
    first.fails.clear()
    return log.announcements


def meet(first: Service, one: Callable[[], None], other: Callable[[], None], *, waits: bool) -> None:
    """`one` stands before its commit; `other` begins, and waits for it or not; then both end."""
    ledger = first.ledger
    assert isinstance(ledger, Standing)
    ledger.armed = True
    with ThreadPoolExecutor(2) as pool:
        standing = pool.submit(one)
        assert ledger.stands.wait(LATE)
        running: Future[None] = pool.submit(other)
        try:
            if waits:
                with pytest.raises(StillRunning):
                    running.result(SOON)
            else:
                running.result(LATE)
        finally:
            ledger.may_go_on.set()
        standing.result(LATE)
        running.result(LATE)


def each_once(said: list[str]) -> list[str]:
    """In the order in which it was said first: two processes may publish the outbox of a key at one moment."""
    return list(dict.fromkeys(said))


def test_an_event_is_held_while_its_key_is_being_released_release_first(
    first: Service, second: Service, log: Log, parked
) -> None:
    """The owner of the source has read `quarantined`; when it gets the lock the key is open, and the event flows."""
    first.skip(parked[0], 10)
    meet(first, lambda: first.release(10), lambda: second.take(source("e2", 1)), waits=True)
    assert each_once(log.said[1:]) == ["skipped e1", "released"]
    assert second.applied == ["e2"]


def test_an_event_is_held_while_its_key_is_being_released_hold_first(
    first: Service, second: Service, log: Log, parked
) -> None:
    first.skip(parked[0], 10)
    meet(first, lambda: first.take(source("e2", 1)), lambda: second.release(10), waits=True)
    assert each_once(log.said[2:]) == ["held e2", "still-held"]
    assert [held.event_id for held in log.outcome.still_held] == ["e2"]
    assert first.applied == []


def test_a_live_failure_while_the_key_is_being_released(first: Service, second: Service, log: Log) -> None:
    """Two source partitions of one key: the failure opens a new quarantine, behind the release."""
    failing = _decided(second, source("e2", 0, partition=1), fails=True)
    first.fails[b"e1"] = Poison("no")
    first.take(source("e1", 0))
    first.skip(log.announcements[0], 10)
    meet(first, lambda: first.release(10), failing, waits=True)
    released, poison = log.outcomes[-1], log.announcements[-1]
    assert (released.outcome, poison.event_id) == ("released", "e2")
    assert released.position is not None
    assert released.position <= poison.position
    second.release(10)
    assert log.outcome.position == released.position, "the answer of the old release is unchanged"


def test_success_and_failure_of_one_event_success_first(first: Service, second: Service, log: Log) -> None:
    """A live success takes no lock: the other owner has seen no fate when it parks, and finds one when it writes."""
    second.fails[b"e1"] = Poison("no")
    meet(first, lambda: first.take(source("e1", 0)), lambda: second.take(source("e1", 0)), waits=True)
    assert first.applied == ["e1"]
    assert log.said == []
    with first.ledger.transaction("disputes") as transaction:
        assert not transaction.lock(b"k").quarantined


def test_success_and_failure_of_one_event_failure_first(first: Service, second: Service, log: Log) -> None:
    first.fails[b"e1"] = Poison("no")
    meet(first, lambda: first.take(source("e1", 0)), lambda: second.take(source("e1", 0)), waits=True)
    assert first.applied == []
    assert set(log.said) == {"poison e1"}


def test_two_successes_of_one_event(first: Service, second: Service, log: Log) -> None:
    meet(first, lambda: first.take(source("e1", 0)), lambda: second.take(source("e1", 0)), waits=True)
    assert first.applied == ["e1"]
    assert len(second.seen) == 1, "its handler ran, its write did not"


def test_a_success_that_is_undone_lets_the_other_one_in(first: Service, second: Service, log: Log) -> None:
    ledger = first.ledger
    assert isinstance(ledger, Standing)

    def undone(connection: Any) -> None:
        first.write(first.seen[-1])(connection)
        ledger.stands.set()
        assert ledger.may_go_on.wait(LATE)
        first.process._trying.handler = first.handler
        raise ValueError("undone")

    first.returns(undone)
    meet(first, lambda: first.take(source("e1", 0)), lambda: second.take(source("e1", 0)), waits=True)
    assert first.applied == ["e1"]
    assert log.said == []


def test_two_holds_of_one_key_get_two_positions(first: Service, second: Service, log: Log, parked) -> None:
    meet(first, lambda: first.take(source("e2", 1)), lambda: second.take(source("e3", 0, partition=1)), waits=True)
    assert {parked.event_id: parked.position for parked in log.announcements}.keys() == {"e1", "e2", "e3"}
    assert len({parked.position for parked in log.announcements}) == 3


def test_skip_while_it_is_being_applied(first: Service, second: Service, log: Log, parked) -> None:
    """The second plan waits for the first one's commit and gets the fact."""
    ready = _decided(first, command("apply", parked[0], 10))
    meet(first, ready, lambda: second.skip(parked[0], 11), waits=True)
    assert first.effects == [("e1", "e1", 10)]
    assert log.outcome.outcome == "applied"
    assert (log.outcome.token, log.outcome.fate_token) == (11, 10)


def test_apply_while_it_is_being_skipped(first: Service, second: Service, log: Log, parked) -> None:
    ready = _decided(second, command("apply", parked[0], 10))
    meet(first, lambda: first.skip(parked[0], 11), ready, waits=True)
    assert first.effects == []
    assert {outcome.outcome for outcome in log.outcomes} == {"skipped"}


def test_apply_while_it_fails_under_a_newer_token(first: Service, second: Service, log: Log, parked) -> None:
    succeeding = _decided(second, command("apply", parked[0], 10))
    failing = _decided(first, command("apply", parked[0], 11), fails=True)
    meet(first, failing, succeeding, waits=True)
    assert first.effects == []
    assert {outcome.outcome for outcome in log.outcomes} == {"failed", "fenced"}


def test_release_while_the_last_event_is_being_applied(first: Service, second: Service, log: Log, parked) -> None:
    ready = _decided(first, command("apply", parked[0], 10))
    meet(first, ready, lambda: second.release(10), waits=True)
    assert each_once(log.said[1:]) == ["applied e1", "released"]


def test_another_key_does_not_wait(first: Service, second: Service, log: Log, parked) -> None:
    second.fails[b"x1"] = Poison("no")
    meet(first, lambda: first.skip(parked[0], 10), lambda: second.take(source("x1", 1, key=b"other")), waits=False)
    assert sorted(each_once(log.said[1:])) == ["poison x1", "skipped e1"]


def _decided(service: Service, record: Record, *, fails: bool = False) -> Callable[[], None]:
    """The handler has decided about this record; calling what is returned brings its result to the commit gate."""
    work = service.gate.begin(record)
    assert isinstance(work, Work)

    def arrive() -> None:
        if fails:
            step = work.failed([Attempt(1, 1, "E", "no")], None)
        else:
            step = work.applied(Effect(service.write(work.event)))
        assert isinstance(step, Done)
        service.outbox.publish(step.hold_key)

    return arrive
