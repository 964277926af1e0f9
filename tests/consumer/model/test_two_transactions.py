"""Each pair of transactions that touch one key, on PostgreSQL, in every order of their statements.

Orders in which one is left for the other more than twice, although it could go on, are run with SIDING_SWITCHES=4.
Whatever the order, the ledger is afterwards what it would be had one of the two come after the other, and the outbox
says the same: hold × release, apply × fail, skip × apply, purge × replay, and so on.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from parking.attempt import Attempt
from parking.consumer.effect import Effect
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.purge import forget
from parking.consumer.step import Step, Work
from parking.record import Record
from parking.wire import Announcement, Command, names
from tests.consumer.model.stepped import Pair, Stepped, orders
from tests.parking.consumer.conftest import postgres as postgres  # noqa: PLC0414 -- a fixture
from tests.parking.consumer.service import EFFECTS, FLOW, Log, Service, command, sent, source

pytestmark = pytest.mark.slow

OPEN = -1
SWITCHES = int(os.environ.get("SIDING_SWITCHES", "2"))
"""How often one transaction is left for the other although it could go on. Lost updates and the like need two."""
TABLES = ("siding_hold", "siding_fate", "siding_announcement", "effect")
Ready = Callable[[], object]
Prepare = Callable[["Stage", Service], Ready]


class Stage:
    """A ledger with a quarantined key: e1 is poison, e2 held; token 10 is not yet used."""

    def __init__(self, conninfo: str) -> None:
        self.ledgers = [Stepped(conninfo), Stepped(conninfo)]
        self.plain = PostgresLedger(conninfo)
        self.plain.prepare()
        self.monitor = psycopg.connect(conninfo, autocommit=True)
        self.monitor.execute(EFFECTS)
        self.log = Log()
        self.services = [Service(ledger, self.log, mark="%s", now=lambda: 1_000) for ledger in self.ledgers]
        self.parked: list[Announcement] = []
        self.live: list[list[Work]] = []

    def set(self, settled: int) -> None:
        """Put the ledger into its first state, with so many of the two parked events skipped; OPEN: none is parked."""
        for table in TABLES:
            self.monitor.execute(f"DELETE FROM {table}")
        self.log.wires.clear()
        service = Service(self.plain, self.log, mark="%s", now=lambda: 1_000)
        self.live = [[_work(one, source(f"l{n}", n, partition=1)) for n in (0, 1)] for one in self.services]
        if settled == OPEN:
            return
        service.fails[b"e1"] = ValueError("no")
        service.take(source("e1", 0), source("e2", 1))
        self.parked = self.log.announcements
        for one in self.parked[:settled]:
            service.skip(one, 9)

    def after(self) -> tuple[Any, ...]:
        """What the ledger has, and what the outbox says of it."""
        hold = self.monitor.execute(
            "SELECT quarantined, blocked_by, floor, released, released_position, next_position, buffer_until IS NULL "
            "FROM siding_hold"
        ).fetchall()
        fates = self.monitor.execute(
            "SELECT event_id, state, kind, position, token, attempt_number FROM siding_fate ORDER BY event_id"
        ).fetchall()
        effects = self.monitor.execute("SELECT event_id, token FROM effect ORDER BY event_id").fetchall()
        due = self.monitor.execute("SELECT record FROM siding_announcement ORDER BY sequence").fetchall()
        assert len(effects) == len(set(effects)), "an effect twice"
        applied = {bytes(fate[0]).decode() for fate in fates if fate[1] == "applied"}
        assert applied <= {event for event, _ in effects}, "a fate without its effect"
        assert not hold or hold[0][0] or all(fate[1] != "held" for fate in fates), "open with something held"
        return tuple(hold), tuple(fates), tuple(effects), tuple(due)

    def close(self) -> None:
        self.monitor.close()
        for ledger in (*self.ledgers, self.plain):
            ledger.close()


@pytest.fixture
def stage(postgres: str) -> Iterator[Stage]:
    options = conninfo_to_dict(postgres)["options"]
    made = Stage(make_conninfo(postgres, options=f"{options} -csynchronous_commit=off"))
    yield made
    made.close()


def _work(service: Service, record: Record) -> Work:
    work = service.gate.begin(record)
    assert isinstance(work, Work)
    return work


def _carried(service: Service, begin: Callable[[], Step]) -> Ready:
    """The gate's answer, and what a handler that always succeeds makes of it; a record that waits is left as it is."""

    def run() -> object:
        step = begin()
        while isinstance(step, Work):
            step = step.applied(Effect(service.write(step.event)))
        return step

    return run


def hold(stage: Stage, service: Service) -> Ready:
    return _carried(service, lambda: service.gate.begin(source("e3", 2)))


def live_success(stage: Stage, service: Service, event: int = 0) -> Ready:
    work = stage.live[stage.services.index(service)][event]
    return _carried(service, lambda: work.applied(Effect(service.write(work.event))))


def live_failure(stage: Stage, service: Service) -> Ready:
    work = stage.live[stage.services.index(service)][0]
    return lambda: work.failed([Attempt(1, 1, "E", "no")], None)


def another_failure(stage: Stage, service: Service) -> Ready:
    work = stage.live[stage.services.index(service)][1]
    return lambda: work.failed([Attempt(1, 1, "E", "no")], None)


def apply(stage: Stage, service: Service, token: int = 10) -> Ready:
    head = next(one for one in stage.parked if one.event_id == _first_held(stage))
    work = _work(service, command(names.APPLY, head, token))
    return lambda: work.applied(Effect(service.write(work.event)))


def fail(stage: Stage, service: Service) -> Ready:
    head = next(one for one in stage.parked if one.event_id == _first_held(stage))
    work = _work(service, command(names.APPLY, head, 10))
    return lambda: work.failed([Attempt(4, 1, "E", "no")], None)


def skip(stage: Stage, service: Service) -> Ready:
    head = next(one for one in stage.parked if one.event_id == _first_held(stage))
    return lambda: service.gate.begin(command(names.SKIP, head, 11))


def release(stage: Stage, service: Service) -> Ready:
    return lambda: service.gate.begin(sent(Command(names.RELEASE, FLOW.name, b"k", 12, "replay")))


def hold_record(stage: Stage, service: Service) -> Ready:
    one = stage.parked[1]
    return lambda: service.gate.begin(command(names.HOLD, one, 12, position=one.position, kind=one.kind))


def purge(stage: Stage, service: Service) -> Ready:
    return lambda: forget(FLOW.name, service.ledger, before=5_000)


def _first_held(stage: Stage) -> str:
    row = stage.monitor.execute(
        "SELECT event_id FROM siding_fate WHERE state = 'held' ORDER BY position LIMIT 1"
    ).fetchone()
    assert row is not None
    return bytes(row[0]).decode()


PAIRS: list[tuple[Prepare, Prepare, int]] = [
    (hold, release, 2),
    (hold, release, 1),
    (hold, hold, 1),
    (hold, skip, 0),
    (live_success, live_failure, OPEN),
    (live_failure, live_success, OPEN),
    (live_success, live_success, OPEN),
    (live_success, another_failure, OPEN),
    (live_failure, another_failure, OPEN),
    (live_failure, live_failure, OPEN),
    (live_failure, release, 2),
    (live_success, release, 2),
    (apply, fail, 0),
    (apply, apply, 0),
    (apply, skip, 0),
    (apply, release, 1),
    (apply, hold, 0),
    (fail, release, 1),
    (fail, skip, 0),
    (skip, release, 1),
    (release, release, 2),
    (hold_record, release, 2),
    (hold_record, apply, 1),
    (hold_record, purge, 2),
    (purge, apply, 1),
    (purge, skip, 1),
    (purge, release, 2),
    (purge, hold, 2),
    (purge, live_failure, OPEN),
    (purge, live_success, OPEN),
    (purge, purge, 2),
]
"""Two transactions, and how many of the two parked events are settled before."""


@pytest.mark.parametrize(
    ("first", "second", "settled"), PAIRS, ids=[f"{a.__name__}-{b.__name__}-{n}" for a, b, n in PAIRS]
)
def test_in_every_order_of_statements_it_is_as_if_one_came_after_the_other(
    stage: Stage, first: Prepare, second: Prepare, settled: int
) -> None:
    pair = Pair(stage.ledgers, stage.monitor)

    def ready() -> list[Ready]:
        stage.set(settled)
        return [prepare(stage, service) for prepare, service in zip((first, second), stage.services, strict=True)]

    serial = []
    for number in (0, 1):
        works = ready()
        works[number]()
        works[1 - number]()
        serial.append(stage.after())

    def run(order: Sequence[int]) -> list[int]:
        choices = pair.run(ready(), order)
        assert stage.after() in serial, f"{order}: neither the one nor the other came first"
        return choices

    ran = list(orders(run, switches=SWITCHES))
    print(f"{len(ran)} orders")
    assert len(ran) > 2, "there is more than one after the other"
