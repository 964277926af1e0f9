"""An event that ends its process is an attempt, too: after an unclean end the first ones are recorded before a try."""

import json
import signal
import sqlite3
from collections.abc import Callable
from typing import cast

import pytest

from parking.consumer.ask import Call, Course, Handle, Wait, advance
from parking.consumer.dependency import Dependency
from parking.consumer.dispatch import Dispatch, Read
from parking.consumer.errors import Poison, RateLimited, Unavailable
from parking.consumer.event import Event
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.limits import Limits
from parking.consumer.partitions import Partitions
from parking.consumer.schedule import Schedule
from parking.consumer.step import Work
from parking.consumer.suspects import Suspects
from parking.consumer.trial import LOOK_AGAIN
from parking.coordinates import Coordinates
from parking.partitioner import partition
from parking.record import Record
from parking.wire import names
from tests.parking.consumer.kafka_loop import PARTITIONS, Loop
from tests.parking.consumer.service import Crash, Log, Service, command, source
from tests.waiting import wait_until

PLACE = ("s", 0)
PLACES = [PLACE, ("s", 1), ("r", 0)]
WINDOW = 100
FULL = "BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END"


def owner(ledger: Ledger, flow: str = "f", attempts: int = 3, window: int = WINDOW) -> Suspects:
    """A process that was given all partitions."""
    made = Suspects(flow, ledger, attempts, window)
    made.assigned(PLACES)
    return made


def dies(event: object) -> Exception:
    raise Crash


class Starts:
    """A service that is started again and again; each start is a process of its own."""

    def __init__(self, make: Callable[..., Service], attempts: int = 3) -> None:
        self.make, self.attempts = make, attempts
        self.deadly: set[bytes] = set()
        self.window = WINDOW

    def start(self) -> Service:
        service = self.make(attempts=self.attempts)
        service.process._suspects = owner(service.ledger, "disputes", self.attempts, self.window)
        for value in self.deadly:
            service.fails[value] = dies
        return service

    def take(self, service: Service, *records: Record) -> bool:
        """Whether the process survived the records."""
        try:
            for record in records:
                course = service.process.course(record)
                while advance(course) is not None:
                    service.waited.append(1)
        except Crash:
            return False
        return True

    def until_it_lives(self, *records: Record) -> int:
        """How many processes died of the records."""
        deaths = 0
        while not self.take(self.start(), *records):
            deaths += 1
            assert deaths < 20
        return deaths


@pytest.fixture
def starts(make_service: Callable[..., Service]) -> Starts:
    return Starts(make_service)


def test_an_event_that_ends_every_process_is_parked_in_the_end(starts: Starts, log: Log) -> None:
    starts.deadly = {b"e2"}
    records = [source("e1", 0), source("e2", 1), source("e3", 2), source("x", 3, key=b"other")]
    assert starts.until_it_lives(*records) == 4, "once unrecorded, then three attempts"
    assert log.said == ["poison e2", "held e3"]
    assert [(a.number, a.error_type) for a in log.announcements[0].attempts] == [
        (n, "process-ended") for n in (1, 2, 3)
    ]
    assert starts.start().applied == ["e1", "x"]


def test_in_a_replay_it_is_a_failure_only_when_the_attempts_are_exhausted(starts: Starts, log: Log) -> None:
    service = starts.start()
    service.fails[b"bad"] = Poison("bad")
    starts.take(service, source("bad", 0, event_id="e1"))
    parked = log.announcements[-1]
    starts.deadly = {b"bad"}
    assert starts.until_it_lives(command(names.APPLY, parked, 10)) == 4
    assert log.said == ["poison e1", "failed e1"]
    assert [a.number for a in log.outcome.attempts] == [2, 3, 4]
    starts.deadly = set()
    starts.start().apply(parked, 11)
    assert log.said[-1] == "applied e1", "another replay begins anew"


def test_what_lives_leaves_nothing_behind(starts: Starts, log: Log) -> None:
    starts.deadly = {b"e1"}
    assert not starts.take(starts.start(), source("e1", 0))
    starts.deadly = set()
    assert starts.take(starts.start(), source("e1", 0), source("e2", 1))
    service = starts.start()
    assert service.applied == ["e1", "e2"]
    with service.ledger.transaction("", write=False) as transaction:
        assert transaction.connection.execute("SELECT count(*) FROM siding_begun").fetchone()[0] == 0


def test_a_clean_end_makes_nobody_suspicious(ledger: Ledger) -> None:
    first, second, third = (owner(ledger) for _ in range(3))
    assert not first.take(PLACE)
    first.give_back([PLACE])
    assert not second.take(PLACE)
    second.give_back([PLACE], clean=False)
    second.assigned([PLACE])
    assert second.take(PLACE) is False, "its own row tells it nothing"
    assert third.take(PLACE)


def test_what_is_given_back_while_the_ledger_is_away_is_looked_at_anew_when_it_comes_again(ledger: Ledger) -> None:
    ours, other = (owner(ledger) for _ in range(2))
    places = [PLACE, ("s", 1)]
    assert not any(map(ours.take, places))
    with ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE siding_owner RENAME TO hidden")
    ours.give_back(places)
    with ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE hidden RENAME TO siding_owner")
    assert all(map(other.take, places))
    ours.assigned(places)
    assert all(map(ours.take, places)), "the other one ended uncleanly meanwhile"


def test_those_that_may_have_ended_two_processes_are_tried_one_at_a_time(ledger: Ledger) -> None:
    """Otherwise what only stood beside the guilty one would be blamed each time."""
    a, b = (Event(name, name.encode(), None, None, (), Coordinates("s", 0, 0, 0)) for name in ("a", "b"))
    first = owner(ledger)
    assert (first.begin(a, PLACE), first.begin(b, PLACE)) == (0, 0), "side by side at first"
    second = owner(ledger)
    assert (second.begin(a, PLACE), second.begin(b, PLACE)) == (1, None)
    second.end(a)
    second.leave(a)
    assert second.begin(b, PLACE) == 1
    third = owner(ledger)
    assert (third.begin(a, PLACE), third.begin(b, PLACE)) == (0, 2)


def test_with_one_attempt_too_only_the_guilty_one_is_parked(starts: Starts, log: Log) -> None:
    """What stood beside it when the process ended is tried alone first."""
    starts.attempts = 1
    starts.deadly = {b"bad"}
    beside, bad = source("e1", 0, key=b"a"), source("bad", 1, key=b"b")
    both_at_work = []
    for _ in range(2):
        service = starts.start()
        course = service.process.course(beside)
        both_at_work.append(course)
        ask = next(course)
        while not isinstance(ask, Handle):
            ask = course.send(ask.call() if isinstance(ask, Call) else None)
        assert not starts.take(service, bad)
    assert starts.until_it_lives(beside, bad) == 1
    assert log.said == ["poison bad"]
    assert [attempt.error_type for attempt in log.announcements[0].attempts] == ["process-ended"] * 2
    assert starts.start().applied == ["e1"]


def both_begun(service: Service, *records: Record) -> None:
    """Somebody before us had them at work, and ended."""
    before = owner(service.ledger, "disputes", 4)
    for record in records:
        assert not before.take((record.topic, record.partition))
        before.begin(handed(service, record), PLACE)
    service.process._suspects = owner(service.ledger, "disputes", 4)


WAITS = [ValueError("perhaps later"), RateLimited(3600, dependency="of nobody else"), Unavailable("accounts: away")]


@pytest.mark.parametrize("error", WAITS)
def test_one_that_waits_holds_up_no_other(make_service: Callable[..., Service], error: Exception) -> None:
    service = make_service()
    one, other = source("e1", 0, key=b"a"), source("e2", 0, key=b"b", partition=1)
    service.fails[b"e1"] = error
    both_begun(service, one, other)
    waiting = service.process.course(one)
    assert isinstance(advance(waiting), Wait)
    assert advance(service.process.course(other)) is None
    service.fails.clear()
    assert advance(waiting) is None
    assert service.applied == ["e2", "e1"]


def test_while_one_is_tried_the_other_waits(make_service: Callable[..., Service]) -> None:
    service = make_service()
    one, other = source("e1", 0, key=b"a"), source("e2", 0, key=b"b", partition=1)
    both_begun(service, one, other)
    courses = [service.process.course(record) for record in (one, other)]
    waits: list[Wait | None] = []
    service.meanwhile = lambda event: waits.append(advance(courses[1])) if event.event_id == "e1" else None
    assert advance(courses[0]) is None
    assert waits == [Wait(LOOK_AGAIN)]
    assert advance(courses[1]) is None
    assert service.applied == ["e1", "e2"]


def test_one_that_needs_what_is_away_holds_up_no_other(make_service: Callable[..., Service]) -> None:
    model = Dependency("model", needed_by=lambda event: event.event_id == "e1")
    service = make_service(dependencies=[model])
    one, other = source("e1", 0, key=b"a"), source("e2", 0, key=b"b", partition=1)
    both_begun(service, one, other)
    model.pause(service.now() / 1000 + 3600)
    waiting = service.process.course(one)
    assert isinstance(advance(waiting), Wait)
    assert advance(service.process.course(other)) is None
    service.waited.append(3600)
    assert advance(waiting) is None
    assert service.applied == ["e2", "e1"]


@pytest.mark.parametrize("error", WAITS)
def test_one_that_waits_while_its_process_is_ended_is_not_blamed(starts: Starts, log: Log, error: Exception) -> None:
    for _ in range(6):
        service = starts.start()
        service.fails[b"e1"] = error
        assert isinstance(advance(service.process.course(source("e1", 0))), Wait)
    service = starts.start()
    assert starts.take(service, source("e1", 0))
    assert (service.applied, log.said) == (["e1"], [])


def test_one_whose_partition_goes_while_it_is_tried_holds_up_no_other_afterwards(
    make_service: Callable[..., Service],
) -> None:
    service = make_service()
    service.fails[b"e1"] = ValueError("perhaps later")
    one, other = (handed(service, source(f"e{n}", n, key=b"%d" % n)) for n in (1, 2))
    before, suspects = (owner(service.ledger, "disputes", 4) for _ in range(2))
    assert (before.begin(one, PLACE), before.begin(other, PLACE)) == (0, 0)
    assert not before.take(("s", 0))
    service.process._suspects = suspects
    dispatch = Dispatch(Schedule(per_partition=9, overall=9), clock=lambda: 0.0)
    dispatch.assign([("s", 0)])
    dispatch.add([Read(("s", 0), 1, b"1", service.process.course(source("e1", 1, key=b"1")), 1)])
    ticket, _ = dispatch.take()
    assert ticket is not None
    meanwhile: list[int | None] = []

    def goes(event: Event) -> None:
        dispatch.forget([("s", 0)])
        meanwhile.append(suspects.begin(other, PLACE))

    service.meanwhile = goes
    assert advance(cast("Course", ticket.task)) is not None
    assert meanwhile == [None], "it is still at work"
    dispatch.worked(ticket, 60.0)
    assert suspects.begin(other, PLACE) == 1


@pytest.mark.parametrize("make_ledger", ["postgresql"], indirect=True)
def test_one_that_could_not_be_recorded_at_first_does_not_wait_for_itself(ledger: Ledger) -> None:
    event = Event("a", b"a", None, None, (), Coordinates("s", 0, 0, 0))
    owner(ledger).begin(event, PLACE)
    with ledger.transaction("") as transaction:
        for statement in (
            f"CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ {FULL} $$",
            "CREATE TRIGGER no_room BEFORE UPDATE ON siding_begun EXECUTE FUNCTION no_room()",
        ):
            transaction.connection.execute(statement)
    suspects = owner(ledger)
    with pytest.raises(Unavailable, match="full"):
        suspects.begin(event, PLACE)
    with ledger.transaction("") as transaction:
        transaction.connection.execute("DROP TRIGGER no_room ON siding_begun")
    assert suspects.begin(event, PLACE) == 1


def handed(service: Service, record: Record) -> Event:
    """The event of a record as a handler is given it."""
    step = service.gate.begin(record)
    assert isinstance(step, Work)
    return step.event


def test_exhausted_attempts_are_not_counted_on(ledger: Ledger) -> None:
    event = Event("a", b"a", None, None, (), Coordinates("s", 0, 0, 0))
    assert [owner(ledger, attempts=2).begin(event, PLACE) for _ in range(4)] == [0, 1, 2, 2]


def owners(loop: Loop) -> int:
    with sqlite3.connect(loop.folder / "service.db", timeout=30) as connection:
        count = connection.execute("SELECT count(*) FROM siding_owner").fetchone()[0]
    connection.close()
    return int(count)


def at_work(service: Service, suspects: Suspects) -> tuple[Dispatch, Partitions]:
    """A process whose handler of e1 has begun and does not end."""
    service.process._suspects = suspects
    dispatch = Dispatch(Schedule(per_partition=9, overall=9), clock=lambda: 0.0)
    limits = Limits(drain=0.001)
    partitions = Partitions(service.flow, dispatch, limits, service.process, arrived=lambda: None, suspects=suspects)
    partitions.assigned([PLACE])
    partitions.put([source("e1", 0)])
    ticket, _ = dispatch.take()
    assert ticket is not None
    course = cast("Course", ticket.task)
    ask = next(course)
    while not isinstance(ask, Handle):
        ask = course.send(ask.call() if isinstance(ask, Call) else None)
    return dispatch, partitions


def begun(service: Service) -> list[int]:
    with service.ledger.transaction("", write=False) as transaction:
        return [row[0] for row in transaction.connection.execute("SELECT begun FROM siding_begun").fetchall()]


def test_what_a_stop_or_a_rebalance_leaves_behind_is_no_attempt(make_service: Callable[..., Service], log: Log) -> None:
    """A handler that takes longer than there is time for ended no process, however often that happens."""
    kept = []
    for _ in range(6):
        service = make_service()
        dispatch, partitions = at_work(service, owner(service.ledger, "disputes"))
        kept.append((dispatch, partitions))
        dispatch.end()
        partitions.revoked([PLACE])
    assert begun(service) == [0]
    service = make_service()
    service.process._suspects = owner(service.ledger, "disputes")
    service.take(source("e1", 0))
    assert (service.applied, log.said) == (["e1"], [])


@pytest.mark.parametrize("goes", ["broken", "lost"])
def test_what_an_end_of_the_process_leaves_behind_is_an_attempt(
    make_service: Callable[..., Service], goes: str
) -> None:
    service = make_service()
    assert not owner(service.ledger, "disputes").take(PLACE)
    dispatch, partitions = at_work(service, owner(service.ledger, "disputes"))
    if goes == "broken":
        dispatch.broken = SystemExit()
        partitions.revoked([PLACE])
    else:
        partitions.lost([PLACE])
    assert begun(service) == [1]


def test_what_is_left_behind_and_ends_late_takes_nothing_from_the_next_owner(ledger: Ledger) -> None:
    event = Event("a", b"a", None, None, (), Coordinates("s", 0, 0, 0))
    ours, other = owner(ledger), owner(ledger)
    assert ours.begin(event, PLACE) == 0
    ours.give_back([PLACE], clean=False)
    assert other.begin(event, PLACE) == 0
    ours.rest(event)
    assert ours.begin(event, PLACE) == 1, "not ours any more: it is not recorded"
    assert owner(ledger).begin(event, PLACE) == 1


@pytest.mark.parametrize("clean", [True, False])
def test_who_gives_back_what_it_still_suspects_leaves_the_suspicion(ledger: Ledger, *, clean: bool) -> None:
    dies, ours, other, last = (owner(ledger) for _ in range(4))
    assert not dies.take(PLACE)
    assert ours.take(PLACE)
    ours.give_back([PLACE], clean=clean)
    ours.assigned([PLACE])
    assert ours.take(PLACE), "it came back, and what ended the first one may not have come yet"
    ours.give_back([PLACE], clean=clean)
    assert [other.take(PLACE) for _ in range(WINDOW + 1)] == [True] * WINDOW + [False]
    other.give_back([PLACE])
    assert not last.take(PLACE), "all that was suspect has been looked at"


def test_what_comes_late_of_a_lost_partition_takes_nothing_from_its_new_owner(ledger: Ledger) -> None:
    ours, other = owner(ledger), owner(ledger)
    ours.give_back([PLACE], clean=False)
    assert not other.take(PLACE)
    assert not ours.take(PLACE), "of a handler that we abandoned"
    ours.assigned([PLACE])
    assert ours.take(PLACE), "the other one ended uncleanly meanwhile"


@pytest.mark.kafka
@pytest.mark.slow
def test_a_service_that_an_event_kills_again_and_again_gets_over_it(loop: Loop) -> None:
    loop.send("e1", "deadly2", "e3")
    loop.send("x1", "x2", key=b"other")
    one = {"group.instance.id": "one"}  # so that what was killed has its partitions back at once
    ended = [loop.start(kafka=one).wait(120) for _ in range(4)]
    assert ended == [-signal.SIGKILL] * 4
    loop.start(kafka=one)
    loop.hear_all("poison deadly2", "held e3")
    wait_until(lambda: sorted(loop.values) == ["e1", "x1", "x2"])
    assert {attempt.error_type for attempt in loop.announcements[0].attempts} == {"process-ended"}


@pytest.mark.kafka
@pytest.mark.slow
def test_a_service_that_is_told_to_stop_gives_its_partitions_back(loop: Loop) -> None:
    process = loop.start()
    loop.send("e1")
    wait_until(lambda: loop.values == ["e1"])
    assert owners(loop) == 1
    process.terminate()
    assert process.wait(60) == 0
    assert owners(loop) == 0


def test_only_the_first_records_that_come_to_a_handler_are_suspect(ledger: Ledger) -> None:
    first, second = owner(ledger, window=2), owner(ledger, window=2)
    assert (first.none_in(PLACE), first.take(PLACE), first.none_in(PLACE)) == (False, False, True)
    assert [second.take(PLACE) for _ in range(4)] == [True, True, False, False]
    assert second.none_in(PLACE), "from here on it costs nothing"
    second.give_back([PLACE])
    assert not second.none_in(PLACE), "who knows who had it meanwhile"


def test_what_is_decided_already_uses_nothing_up(make_service: Callable[..., Service], log: Log) -> None:
    """However many finished records come again before it, as their offsets were not committed."""
    starts = Starts(make_service)
    starts.window = 1
    before = [source(f"e{n}", n, key=b"%d" % n) for n in range(9)]
    assert starts.take(starts.start(), *before)
    starts.deadly = {b"bad"}
    assert starts.until_it_lives(*before, source("bad", 9)) == 3
    assert log.said == ["poison bad"]


@pytest.mark.kafka
@pytest.mark.slow
def test_one_far_behind_a_head_that_waits_is_found_too(loop: Loop) -> None:
    """What was finished behind the head counts for nothing, and neither does the buffer bound what comes again."""
    limits = json.dumps({"buffer": 4})
    one = {"group.instance.id": "one"}
    keys = [key for n in range(100) if partition(key := b"key-%d" % n, PARTITIONS) == 0][:17]
    first = loop.start(kafka=one, limits=limits)
    loop.send("waits", key=keys[0])
    for n, key in enumerate(keys[1:16]):
        loop.send(f"e{n}", key=key)
    wait_until(lambda: len(loop.values) == 15)
    loop.send("deadly", key=keys[16])
    assert first.wait(120) == -signal.SIGKILL
    ended = [loop.start(kafka=one, limits=limits).wait(120) for _ in range(3)]
    assert ended == [-signal.SIGKILL] * 3
    loop.start(kafka=one, limits=limits)
    loop.hear_all("poison deadly")
    assert len(loop.values) == 15
