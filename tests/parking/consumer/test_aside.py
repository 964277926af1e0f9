"""What a service hangs onto the kit may fail: the log says so, and neither event nor consumer hears of it."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from parking.consumer import Counters, Effect, Event, Ladder, Modes, ParkedShare, Poison, RateLimited, Watcher
from parking.consumer.aside import MOST_KINDS, Aside, callbacks
from parking.consumer.disagreements import Disagreements
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Fate
from parking.consumer.modes import AUTONOMOUS, SHADOW, tenant
from parking.record import Record
from tests.parking.consumer.service import Log, Service, source
from tests.parking.consumer.test_ladder import up


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Broken(Watcher):
    """Raises whenever it hears of something."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.heard: list[str] = []

    def raises(self, what: str) -> None:
        self.heard.append(what)
        raise self.error

    def limited(self, event: Event) -> None:
        self.raises("limited")

    def settled(self, event: Event, *, parked: bool) -> None:
        self.raises("parked" if parked else "applied")

    def known(self, record: Record, fate: Fate) -> None:
        self.raises("known")


@pytest.mark.parametrize(
    "error", [ValueError("odd"), Unspeakable(), asyncio.CancelledError(), SystemExit(3), Poison("no"), RateLimited(9)]
)
def test_a_watcher_that_raises_changes_nothing(
    make_service: Callable[..., Service], log: Log, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    broken, counters = Broken(error), Counters()
    service = make_service(watchers=[broken, counters])
    limits = [RateLimited(2)]
    service.fails[b"e1"] = lambda event: limits.pop() if limits else None
    service.fails[b"bad"] = Poison("bad")
    service.take(source("e1", 0), source("e1", 0), source("bad", 1, key=b"other"))
    assert broken.heard == ["limited", "applied", "known", "parked"]
    assert (service.applied, log.said, service.waited) == (["e1"], ["poison bad"], [2])
    values = counters.values()
    assert [values[f"{n}_total"] for n in ("limited", "applied", "redelivered", "parked")] == [1, 1, 1, 1]
    told = [record for record in caplog.records if record.exc_info]
    assert len(told) == 3, "the same error at the same place of three calls; settled was called twice"
    assert f"watcher Broken.settled raised {type(error).__name__}" in caplog.text


def test_a_ladder_whose_scopes_cannot_be_told_parks_the_event_and_goes_on(
    make_service: Callable[..., Service], ledger: Ledger, log: Log
) -> None:
    def scopes(event: Event) -> list[str]:
        return [tenant(event.json()["tenant"])]

    modes = Modes("disputes", ledger, believe=0)
    up(modes, AUTONOMOUS)
    ladder = Ladder(
        modes,
        Disagreements("disputes", ledger),
        autonomous=lambda event: None,
        fallback=lambda event: None,
        scopes=scopes,
        parked_share=ParkedShare(),
    )
    service = make_service(watchers=[ladder])
    service.process._trying.handler = ladder
    service.take(source("{", 0, event_id="e1"), source('{"tenant": "t-1"}', 1, key=b"other", event_id="e2"))
    assert (log.said, service.applied) == (["poison e1"], [])
    with ledger.transaction("", write=False) as transaction:
        rows = transaction.connection.execute("SELECT state FROM siding_fate ORDER BY source_offset").fetchall()
    assert [state for (state,) in rows] == ["held", "applied"]


def test_a_ladder_whose_database_is_away_when_an_event_is_settled_holds_nothing_up(
    make_service: Callable[..., Service], ledger: Ledger, log: Log
) -> None:
    modes = Modes("disputes", ledger, believe=0)
    up(modes, AUTONOMOUS)
    ladder = Ladder(
        modes,
        Disagreements("disputes", ledger),
        autonomous=lambda event: None,
        fallback=lambda event: None,
        parked_share=ParkedShare(most=0.0, of_last=1),
    )
    service = make_service(watchers=[ladder])
    service.fails[b"e1"] = Poison("bad")
    with ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE siding_mode RENAME TO hidden")
    service.take(source("e1", 0), source("e2", 1, key=b"other"))
    assert (log.said, service.applied) == (["poison e1"], ["e2"])


class Odd:
    """What cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__


def fails_with(error: BaseException) -> Callable[[Event], Effect]:
    def model(event: Event) -> Effect:
        raise error

    return model


@pytest.mark.parametrize(
    "model",
    [
        *map(fails_with, (Unspeakable(), SystemExit(3), asyncio.CancelledError(), ValueError("odd"))),
        lambda event: Effect(result={"score": Odd()}),
    ],
)
def test_a_shadow_that_raises_changes_nothing(
    make_service: Callable[..., Service], ledger: Ledger, log: Log, model: Callable[[Event], Effect]
) -> None:
    def old(event: Event) -> Effect:
        return Effect(result={"score": 1})

    modes = Modes("disputes", ledger, believe=0)
    up(modes, SHADOW)
    ladder = Ladder(modes, Disagreements("disputes", ledger), autonomous=model, fallback=old)
    service = make_service()
    service.process._trying.handler = ladder
    service.take(source("e1", 0))
    ladder.rest()
    assert log.said == []
    assert len(ladder.disagreements.newest()) + ladder.unjudged == 1, "reported, or counted as unjudged"


def test_disagreements_that_cannot_be_reported_are_counted_and_said(
    make_service: Callable[..., Service], ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    class Away(Disagreements):
        def report(self, event: Event, acted: Any, shadow: Any) -> None:
            raise OSError("the reports are elsewhere")

    modes = Modes("disputes", ledger, believe=0)
    up(modes, SHADOW)
    ladder = Ladder(
        modes, Away("disputes", ledger), autonomous=fails_with(ValueError("odd")), fallback=lambda event: None
    )
    service = make_service()
    service.process._trying.handler = ladder
    service.take(source("e1", 0))
    ladder.rest()
    assert ladder.unjudged == 1
    assert "a report of disagreement raised OSError" in caplog.text


def test_an_async_handler_whose_own_task_is_cancelled_has_failed(service: Service, log: Log) -> None:
    service.fails[b"e1"] = lambda event: asyncio.CancelledError()
    service.take(source("e1", 0), source("e2", 1, key=b"other"))
    assert (log.said, service.applied) == (["poison e1"], ["e2"])
    assert len(log.announcements[0].attempts) == 3
    assert "CancelledError" in log.announcements[0].attempts[0].stacktrace


class OwnPoison(Poison):
    """Forgets to call what it is made from."""

    def __init__(self) -> None:
        Exception.__init__(self, "own")


class OwnLimit(RateLimited):
    def __init__(self) -> None:
        Exception.__init__(self, "own")


def test_exceptions_that_were_not_made_completely_are_taken_for_what_they_are(service: Service, log: Log) -> None:
    service.fails[b"e1"] = OwnPoison()
    limits: list[Exception] = [OwnLimit()]
    service.fails[b"e2"] = lambda event: limits.pop() if limits else None
    service.take(source("e1", 0), source("e2", 1, key=b"other"))
    assert (log.said, service.applied) == (["poison e1"], ["e2"])
    assert log.announcements[0].attempts[0].message == "own"


def test_a_gauge_that_raises_is_left_out_and_one_of_the_service_s_own_is_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def gauge() -> float:
        raise ZeroDivisionError

    counters = Counters()
    counters.gauges |= {"mine": lambda: 4, "odd": gauge, "text": lambda: "many"}  # type: ignore[dict-item, return-value]
    text = counters.prometheus("disputes")
    assert 'siding_kit_mine{flow="disputes"} 4' in text
    assert "odd" not in text
    assert "text" not in text
    assert "gauge odd raised ZeroDivisionError" in caplog.text


def test_the_same_error_is_said_once_with_its_traceback_and_then_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(n: int) -> None:
        raise ValueError(n)

    aside = Aside()
    for n in range(250):
        assert not aside("the callback", fails, n)
    assert [record.exc_info is not None for record in caplog.records] == [True, False, False]
    again = "the callback raised ValueError at the same place for the"
    assert [record.getMessage() for record in caplog.records[1:]] == [f"{again} 10th time", f"{again} 100th time"]


def test_endless_kinds_of_errors_do_not_fill_log_and_memory(caplog: pytest.LogCaptureFixture) -> None:
    aside = Aside()
    for n in range(3 * MOST_KINDS):
        aside(f"callback {n}", int, "no number")
    assert len(caplog.records) == MOST_KINDS + 1
    assert "no further kinds are told" in caplog.text


def test_the_callbacks_of_the_kafka_client_are_guarded_and_nothing_else_is_touched(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def stats(text: str) -> None:
        raise ValueError(text)

    def login(text: str) -> str:
        return text

    settings = callbacks({"bootstrap.servers": "b:1", "stats_cb": stats, "oauth_cb": login, "logger": logging.root})
    assert (settings["bootstrap.servers"], settings["oauth_cb"], settings["logger"]) == ("b:1", login, logging.root)
    settings["stats_cb"]("{}")
    assert "the callback stats_cb raised ValueError" in caplog.text
