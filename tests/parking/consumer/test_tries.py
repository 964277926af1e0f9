"""How often the handler runs, with which waits, and what is kept of each failed try."""

import logging
from collections.abc import Callable

import pytest

from parking.attempt import ValidationError
from parking.consumer.breaker import Breaker
from parking.consumer.dependency import Dependency
from parking.consumer.effect import Effect
from parking.consumer.errors import Interrupted, Invalid, Poison, RateLimited, Unavailable
from parking.consumer.tries import Retries
from parking.wire import Wire
from tests.parking.consumer.service import Log, Service, source


def failing(times: int, error: Exception):
    left = [error] * times
    return lambda event: left.pop() if left else None


def test_a_try_that_succeeds_after_failures_leaves_nothing_behind(service: Service, log: Log) -> None:
    service.fails[b"e1"] = failing(2, ValueError("now and then"))
    service.take(source("e1", 0))
    assert service.applied == ["e1"]
    assert log.said == []
    assert [event.attempt for event in service.seen] == [1, 2, 3]
    assert service.waited == [0.5, 1.0]


def test_exhausted_attempts_park_the_event_with_all_of_them(service: Service, log: Log) -> None:
    service.fails[b"e1"] = KeyError("amount")
    service.take(source("e1", 0))
    attempts = log.announcements[0].attempts
    assert [(a.number, a.error_type, a.message, a.retryable) for a in attempts] == [
        (n, "KeyError", "'amount'", True) for n in (1, 2, 3)
    ]
    assert all("test_tries" in a.stacktrace or "service.py" in a.stacktrace for a in attempts)
    assert attempts[0].at < attempts[1].at < attempts[2].at


def test_poison_is_not_tried_again(service: Service, log: Log) -> None:
    service.fails[b"e1"] = Poison("never")
    service.take(source("e1", 0))
    assert len(service.seen) == 1
    assert service.waited == []


def test_a_rate_limit_waits_as_long_as_told_and_spends_no_attempt(service: Service, log: Log) -> None:
    service.fails[b"e1"] = failing(7, RateLimited(2.5))
    service.take(source("e1", 0), source("e2", 1))
    assert service.waited == [2.5] * 7
    assert service.applied == ["e1", "e2"]
    assert {event.attempt for event in service.seen} == {1}


def test_a_rate_limit_of_nothing_does_not_spin(service: Service) -> None:
    service.fails[b"e1"] = failing(1, RateLimited(-3))
    service.take(source("e1", 0))
    assert service.waited == [0.05]


def test_an_unavailable_dependency_of_the_handler_spends_no_attempt(service: Service, caplog) -> None:
    service.fails[b"e1"] = failing(3, Unavailable("accounts: cannot be reached"))
    with caplog.at_level(logging.WARNING):
        service.take(source("e1", 0))
    assert service.applied == ["e1"]
    assert [record.message for record in caplog.records] == [
        "accounts: cannot be reached; trying again",
        "works again: accounts",
    ]


def test_what_a_handler_returns_is_checked(service: Service, log: Log) -> None:
    service.returns({"decision": "approve"})
    service.take(source("e1", 0))
    assert "expected an Effect, a function or None" in log.announcements[0].attempts[0].message


def test_a_handler_may_have_nothing_to_write(service: Service, log: Log) -> None:
    service.returns(None)
    service.take(source("e1", 0))
    service.returns(Effect())
    service.take(source("e2", 1))
    assert log.said == []


def test_an_interrupted_wait_leaves_the_event_unfinished(service: Service, log: Log) -> None:
    def stop(seconds: float) -> None:
        raise Interrupted

    service.fails[b"e1"] = ValueError("once")
    with pytest.raises(Interrupted):
        service.process(source("e1", 0), stop)
    assert log.said == []
    service.fails.clear()
    service.take(source("e1", 0))
    assert service.applied == ["e1"]


def test_long_and_odd_errors_fit_and_are_still_readable(service: Service, log: Log) -> None:
    service.fails[b"e1"] = ValueError("\ud800<b>" + "x" * 1_000_000)
    service.take(source("e1", 0))
    wire: Wire = log.wires[0][1]
    assert sum(len(name) + len(value or b"") for name, value in wire.headers) < 33_000
    message = log.announcements[0].attempts[0].message
    assert message.startswith("�<b>xxx")
    assert "more characters]" in message


@pytest.mark.parametrize("attempts", [0, -1])
def test_at_least_one_attempt(attempts: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Retries(attempts=attempts)


def test_waits_grow_up_to_a_limit() -> None:
    retries = Retries(attempts=1000, first_wait=1, factor=3, longest_wait=20)
    assert [retries.longest(n) for n in (1, 2, 3, 4, 999)] == [1, 3, 9, 20, 20]


def test_bytes_that_are_no_json_are_poison(service: Service, log: Log) -> None:
    service.process._trying.handler = lambda event: event.json() and None
    service.take(
        source("[" * 100_000, 0, event_id="deep"),
        source("9" * 5_000, 1, key=b"other", event_id="digits"),
        source("{", 2, key=b"third", event_id="open"),
    )
    assert [parked.event_id for parked in log.announcements] == ["deep", "digits", "open"]
    assert {parked.attempts[0].error_type for parked in log.announcements} == {"not-json"}
    assert log.announcements[0].attempts[0].validation_errors[0].expected == "JSON"


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


LOOP: dict[str, object] = {}
LOOP["itself"] = LOOP


@pytest.mark.parametrize(
    "error",
    [
        Unspeakable(),
        Poison("odd", error_type=7),  # type: ignore[arg-type]
        Poison("odd", validation_errors=[ValidationError("/a", 1, None, b"x")]),  # type: ignore[arg-type]
        Poison("odd", evidence={"score": float("nan")}),
        Poison("odd", evidence={("a", "b"): 1}),  # type: ignore[dict-item]
        Poison("odd", evidence={"digits": 10**5_000}),
        Poison("odd", evidence=LOOP),
        Poison("odd", evidence=["a list"]),  # type: ignore[arg-type]
        Poison("odd", evidence={"half": "\ud800", "when": object()}),
    ],
)
def test_whatever_a_handler_raises_can_be_parked_and_read(service: Service, log: Log, error: Exception) -> None:
    service.fails[b"e1"] = error
    service.take(source("e1", 0))
    service.apply(log.announcements[0], 10)
    assert log.said == ["poison e1", "failed e1"]


def test_validation_errors_of_another_kind_are_refused_where_they_are_made() -> None:
    with pytest.raises(TypeError, match="expected ValidationError"):
        Poison("no", validation_errors=[{"path": "/a"}])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("asked", "waits"), [(float("nan"), 0.0), (float("inf"), 86_400.0), (1e30, 86_400.0), (-1, 0.0)]
)
def test_odd_waits_of_a_rate_limit(asked: float, waits: float) -> None:
    assert RateLimited(asked).retry_after == waits


def test_the_waits_have_full_jitter(service: Service, log: Log) -> None:
    chances = iter([0.0, 0.5])
    service.process._trying._chance = lambda: next(chances)
    service.fails[b"e1"] = failing(2, ValueError("now and then"))
    service.take(source("e1", 0))
    assert service.waited == [0.0, 0.5]


def test_no_try_begins_after_the_budget(service: Service, log: Log) -> None:
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    service.fails[b"e1"] = ValueError("again")
    service.take(source("e1", 0))
    assert len(log.announcements[0].attempts) == 3, "at 0, 10 and 20 seconds; one at 30 would be too late"
    assert service.waited == [10, 10], "and nobody waits for a try that may not begin"


def test_a_try_s_own_time_is_of_the_budget(service: Service, log: Log) -> None:
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    service.fails[b"e1"] = ValueError("again")
    service.meanwhile = lambda event: service.waited.append(6)
    service.take(source("e1", 0))
    assert service.waited == [6, 10, 6], "the first one has failed at 6, the second one at 22; one at 32 is too late"


ASKED = RateLimited(3600)
AWAY = Unavailable("accounts: away")


@pytest.mark.parametrize(
    ("errors", "waits"),
    [
        ([ValueError(), ASKED, ValueError()], [10, 3600, 10]),
        ([ASKED, ValueError(), ValueError(), ASKED], [3600, 10, 10, 3600]),
        ([ValueError(), *[AWAY] * 9, ValueError()], [10, 0.2, 0.4, 0.8, 1.6, 3.2, *[5.0] * 4, 10]),
    ],
)
def test_what_holds_an_event_up_takes_nothing_of_the_budget(
    service: Service, log: Log, errors: list[Exception], waits: list[float]
) -> None:
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    left = errors.copy()
    service.fails[b"e1"] = lambda event: left.pop(0) if left else None
    service.take(source("e1", 0))
    assert (service.applied, log.said) == (["e1"], [])
    assert service.waited == pytest.approx(waits)


def test_a_dependency_that_is_away_takes_nothing_of_the_budget(make_service: Callable[..., Service], log: Log) -> None:
    """Neither the wait for it, nor the time-out of whoever finds that it is still away."""
    breaker = Breaker(failures=1, open_for=30)
    service = make_service(dependencies=[Dependency("model", breaker=breaker)])
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    left = [ValueError(), *[TimeoutError("away")] * 4, ValueError()]
    service.fails[b"e1"] = lambda event: left.pop(0) if left else None
    service.meanwhile = lambda event: service.waited.append(60) if left and isinstance(left[0], TimeoutError) else None

    def wait(seconds: float) -> None:
        service.waited.append(seconds)
        if len(left) == 5 and not breaker.is_open:
            breaker.failed(service.now() / 1000)

    service.process(source("e1", 0), wait)
    assert (service.applied, log.said, left) == (["e1"], [], [])
    assert sum(service.waited) > 4 * 90


def test_a_wait_is_counted_once_where_it_cannot_be_said_what_the_event_needs(
    make_service: Callable[..., Service], log: Log
) -> None:
    service = make_service(dependencies=[Dependency("model", needed_by=lambda event: bool(event.json()["model"]))])
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    service.take(source("{}", 0))
    assert (service.waited, len(log.announcements[0].attempts)) == ([10, 10], 3)


def test_a_write_whose_database_is_away_takes_nothing_of_the_budget(service: Service, log: Log) -> None:
    service.process._trying._retries = Retries(attempts=100, first_wait=10, factor=1, budget=25)
    left = [ValueError(), *[AWAY] * 9, ValueError()]

    def write(connection: object) -> None:
        if left:
            raise left.pop(0)

    service.returns(Effect(write))
    service.take(source("e1", 0))
    assert (len(service.seen), log.said, left) == (3, [], [])


def test_kinds_that_never_succeed_are_parked_at_once(service: Service, log: Log) -> None:
    service.process._trying._retries = Retries(attempts=3, never=(KeyError,))
    service.fails[b"e1"] = KeyError("amount")
    service.take(source("e1", 0))
    assert [a.retryable for a in log.announcements[0].attempts] == [False]


def test_validation_errors_are_enough_to_say(service: Service, log: Log) -> None:
    service.fails[b"e1"] = Invalid([ValidationError("/a", "a number", "b", "send one")])
    service.take(source("e1", 0))
    (attempt,) = log.announcements[0].attempts
    assert (attempt.error_type, attempt.message, attempt.validation_errors[0].path) == (
        "Invalid",
        "1 validation error",
        "/a",
    )
