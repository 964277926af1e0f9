"""What handlers depend on: who needs what asked for a pause, or is broken, waits in its place and spends no attempt."""

import heapq
import logging
from collections.abc import Callable

import pytest

from parking.consumer import Breaker, Dependency, Event, RateLimited, Retries
from parking.consumer.ask import advance
from parking.consumer.dependency import Dependencies
from parking.coordinates import Coordinates
from parking.record import Record
from parking.wire import names
from tests.parking.consumer.service import Log, Service, source

EVENT = Event("e1", b"k", b"k", b"v", (), Coordinates("s", 0, 0, 0))


def test_a_breaker_opens_after_so_many_failures_in_a_row() -> None:
    breaker = Breaker(failures=3, open_for=10)
    for _ in range(2):
        assert not breaker.failed(0)
    breaker.succeeded()
    assert [breaker.failed(now) for now in (0, 1, 2)] == [False] * 3
    assert (breaker.is_open, breaker.wait(2), breaker.wait(11.5)) == (True, 10, 0.5)


def test_one_call_is_tried_when_its_time_is_over_and_decides() -> None:
    breaker = Breaker(failures=1, open_for=10)
    breaker.failed(0)
    assert (breaker.wait(10), breaker.wait(10)) == (0, 10), "one goes, the others wait"
    assert breaker.failed(10.5), "that was to be expected"
    assert breaker.wait(11) == 9.5
    assert breaker.wait(20.5) == 0
    breaker.succeeded()
    assert (breaker.is_open, breaker.wait(20.5), breaker.wait(20.5)) == (False, 0, 0)


def test_who_tries_and_never_says_how_it_went_blocks_nobody_for_long() -> None:
    breaker = Breaker(failures=1, open_for=10)
    breaker.failed(0)
    assert breaker.wait(10) == 0
    assert breaker.wait(20) == 0


@pytest.mark.parametrize("wrong", [{"failures": 0}, {"open_for": 0}])
def test_a_breaker_needs_a_threshold_and_a_time(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1 failure"):
        Breaker(**wrong)


@pytest.mark.parametrize(
    ("named", "paused"),
    [(None, {"model"}), ("accounts", {"accounts"}), ("nobody declared this", set())],
)
def test_what_a_rate_limit_pauses(named: str | None, paused: set[str]) -> None:
    model, accounts = Dependency("model"), Dependency("accounts")
    dependencies = Dependencies("the flow", [model, accounts])
    dependencies.limited(dependencies.needed(EVENT), RateLimited(5, dependency=named), 0)
    assert {one.name for one in (model, accounts) if one.wait("e1", 1)} == paused


def test_without_a_dependency_the_flow_waits() -> None:
    dependencies = Dependencies("the flow", [Dependency("model", needed_by=lambda event: False)])
    needed = dependencies.needed(EVENT)
    dependencies.limited(needed, RateLimited(5), 0)
    assert [one.wait("e1", 1) for one in needed] == [4]


def test_while_the_breaker_is_open_no_attempt_is_spent(make_service: Callable[..., Service], log: Log) -> None:
    """An outage longer than all attempts together: the event waits, is tried now and then, and succeeds in the end."""
    failures = [TimeoutError("away")] * 6
    model = Dependency("model", breaker=Breaker(failures=2, open_for=30))
    service = make_service(dependencies=[model], attempts=3)
    service.fails[b"e1"] = lambda event: failures.pop() if failures else None
    service.take(source("e1", 0), source("e2", 1))
    assert (service.applied, log.said) == (["e1", "e2"], [])
    assert [event.attempt for event in service.seen] == [1, 2, 3, 3, 3, 3, 3, 1]
    assert sum(service.waited) >= 5 * 30 - 1


def test_an_outage_parks_nothing_although_the_attempts_end_before_the_breaker_opens(
    make_service: Callable[..., Service], log: Log
) -> None:
    """A flow with one event now and then: nobody else finds out that the model is away."""
    failures = [TimeoutError("away")] * 8
    model = Dependency("model", breaker=Breaker(failures=5, open_for=30))
    service = make_service(dependencies=[model], attempts=3)
    service.process._trying._retries = Retries(attempts=3, budget=1)
    service.fails[b"e1"] = lambda event: failures.pop() if failures else None
    service.take(source("e1", 0))
    assert (service.applied, log.said) == (["e1"], [])
    assert [event.attempt for event in service.seen] == [1, 2, 3, 4, 5, 6, 6, 6, 6]


@pytest.mark.parametrize("worked_after", [1, 2, 3, 4, 5])
def test_an_event_for_which_alone_the_model_fails_is_parked(
    make_service: Callable[..., Service], log: Log, worked_after: int
) -> None:
    """Once it is known that the model works: before its attempts end, or only when the breaker is open already."""
    model = Dependency("model", breaker=Breaker(failures=5, open_for=30))
    service = make_service(dependencies=[model], attempts=3)
    service.fails[b"e1"] = TimeoutError("too long for it")

    def wait(seconds: float) -> None:
        service.waited.append(seconds)
        if len(service.seen) == worked_after:
            model.judge("another", None, service.now() / 1000)

    service.process(source("e1", 0), wait)
    assert log.said == ["poison e1"]
    assert len(log.announcements[0].attempts) == max(3, worked_after + 1)


@pytest.mark.parametrize(("attempts", "failures", "spent"), [(3, 5, 6), (3, 2, 3), (1, 1, 2)])
def test_an_event_that_alone_finds_the_model_away_for_too_long_is_parked(
    make_service: Callable[..., Service],
    log: Log,
    caplog: pytest.LogCaptureFixture,
    *,
    attempts: int,
    failures: int,
    spent: int,
) -> None:
    """Nobody else needs the model: whether it is away or the event is at fault, nobody would ever find out."""
    caplog.set_level(logging.WARNING)
    model = Dependency("model", breaker=Breaker(failures=failures, open_for=30), patience=4)
    service = make_service(dependencies=[model], attempts=attempts)
    service.fails[b"e1"] = TimeoutError("too long for it")
    service.take(source("e1", 0), source("e2", 1, key=b"other"))
    assert log.said == ["poison e1"]
    assert service.applied == ["e2"]
    assert len(log.announcements[0].attempts) == spent
    opened, blamed, works = (record.getMessage() for record in caplog.records)
    assert "model" in opened
    assert "waits" in opened
    assert "e1" in blamed
    assert "its own failed attempts" in blamed
    assert "works again" in works


def test_a_replayed_event_that_alone_finds_the_model_away_for_too_long_fails(
    make_service: Callable[..., Service], log: Log
) -> None:
    """Otherwise its replay would wait for the outcome for ever."""
    model = Dependency("model", breaker=Breaker(failures=5, open_for=30), patience=4)
    service = make_service(dependencies=[model], attempts=3)
    service.fails[b"e1"] = ValueError("wrong")
    service.take(source("e1", 0))
    service.fails[b"e1"] = TimeoutError("too long for it")
    service.apply(log.announcements[0], 10)
    assert log.said == ["poison e1", f"{names.FAILED} e1"]


def test_an_outage_that_several_events_meet_parks_none_of_them(make_service: Callable[..., Service], log: Log) -> None:
    """Whoever found the model away lets the others find out before it tries again itself."""
    away = [TimeoutError("away") for _ in range(35)]
    model = Dependency("model", breaker=Breaker(failures=5, open_for=30), patience=4)
    service = make_service(dependencies=[model], attempts=3)
    for value in (b"e1", b"e2", b"e3"):
        service.fails[value] = lambda event: away.pop() if away else None
    side_by_side(service, *(source(f"e{n}", n, key=b"%d" % n) for n in (1, 2, 3)))
    assert (sorted(service.applied), log.said) == (["e1", "e2", "e3"], [])
    assert sum(service.waited) > 25 * 30


def test_events_that_are_at_fault_in_the_same_way_are_parked_in_the_end(
    make_service: Callable[..., Service], log: Log
) -> None:
    """Of the only ones that need it each sees the others fail there: that must not excuse them for ever."""
    model = Dependency("model", breaker=Breaker(failures=5, open_for=30), patience=4)
    service = make_service(dependencies=[model], attempts=3)
    for value in (b"e1", b"e2"):
        service.fails[value] = lambda event: TimeoutError("too long for it")
    side_by_side(service, source("e1", 1, key=b"1"), source("e2", 2, key=b"2"))
    assert sorted(log.said) == ["poison e1", "poison e2"]
    assert len(service.seen) > 2 * 2 * 4, "two that fail there have the patience of two"


def test_who_found_it_away_lets_others_find_out_first() -> None:
    model = Dependency("model", breaker=Breaker(failures=1, open_for=30))
    model.judge("e1", TimeoutError("too long for it"), 0)
    assert (model.wait("e1", 30), model.wait("e2", 30)) == (1, 0)
    model.judge("e2", None, 30)
    assert model.wait("e1", 30) == 0


def side_by_side(service: Service, *records: Record) -> None:
    """Process them at once, each one going on when it has waited for as long as it wanted."""
    waiting = [(service.now() / 1000, n, service.process.course(record)) for n, record in enumerate(records)]
    while waiting:
        due, n, course = heapq.heappop(waiting)
        service.waited.append(max(due - service.now() / 1000, 0))
        if (wait := advance(course)) is not None:
            heapq.heappush(waiting, (service.now() / 1000 + wait.seconds, n, course))


@pytest.mark.parametrize(
    ("retries", "breaker"), [(Retries(never=(TimeoutError,)), Breaker()), (Retries(attempts=2), None)]
)
def test_what_is_hopeless_or_has_no_breaker_waits_for_nothing(
    make_service: Callable[..., Service], log: Log, retries: Retries, breaker: Breaker | None
) -> None:
    service = make_service(dependencies=[Dependency("model", breaker=breaker)])
    service.process._trying._retries = retries
    service.fails[b"e1"] = TimeoutError("away")
    service.take(source("e1", 0))
    assert log.said == ["poison e1"]


def test_an_event_s_own_failure_does_not_speak_against_the_model(
    make_service: Callable[..., Service], log: Log
) -> None:
    model = Dependency("model", breaker=Breaker(failures=2, open_for=30))
    service = make_service(dependencies=[model])
    service.fails[b"e1"] = KeyError("amount")
    service.take(source("e1", 0))
    assert (log.said, model.is_open) == (["poison e1"], False)


def test_whether_it_is_needed_may_fail_like_a_handler(make_service: Callable[..., Service], log: Log) -> None:
    model = Dependency("model", needed_by=lambda event: bool(event.json()))
    service = make_service(dependencies=[model])
    service.take(source("{", 0))
    assert log.announcements[0].attempts[0].error_type == "not-json"
