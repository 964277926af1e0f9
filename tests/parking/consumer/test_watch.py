"""Counters, answers to duplicates, and the evidence that is kept with what becomes of an event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from parking.consumer import Counters, Duplicates, Effect, Event, KeyedConsumer, Poison, RateLimited, Watcher, note
from parking.consumer.counters import Recent
from parking.consumer.errors import Unavailable
from parking.consumer.ledger.ledger import Ledger
from parking.wire import names
from tests.parking.consumer.service import FLOW, Log, Service, command, source

TRACE = ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")


def test_what_is_counted(make_service: Callable[..., Service], log: Log) -> None:
    now = [0.0]
    counters = Counters(window=10, clock=lambda: now[0])
    service = make_service(watchers=[counters])
    limits = [RateLimited(1), RateLimited(1)]
    service.fails[b"e1"] = lambda event: limits.pop() if limits else None
    service.fails[b"bad"] = Poison("bad")
    service.take(source("e1", 0), source("e1", 0), source("e1", 9), source("bad", 1), source("e3", 2))
    values = counters.values()
    assert (values["applied_total"], values["parked_total"], values["limited_total"]) == (1, 1, 2)
    assert (values["redelivered_total"], values["duplicates_total"]) == (1, 1)
    assert (values["parked_per_hour"], values["limited_per_window"]) == (1, 2)
    now[0] = 3601
    assert (counters.values()["parked_per_hour"], counters.values()["limited_per_window"]) == (0, 0)
    service.fails.clear()
    service.take(command(names.APPLY, log.announcements[0], 10))
    assert counters.values()["applied_total"] == 2
    service.take(command(names.APPLY, log.announcements[0], 10))
    assert counters.values()["applied_total"] == 2, "an answer that is given again is no effect"


def test_what_is_parked_without_asking_a_handler_counts_too(make_service: Callable[..., Service], log: Log) -> None:
    heard: list[tuple[str, bytes | None, bool]] = []

    class Hears(Watcher):
        def settled(self, event: Event, *, parked: bool) -> None:
            heard.append((event.event_id, event.value, parked))

    counters = Counters()
    service = make_service(watchers=[counters, Hears()])
    records = [
        source("e1", 0),
        source("other", 1, event_id="e1", key=b"another"),
        replace(source("odd", 2, key=b"third"), fault="the headers cannot be read"),
    ]
    service.take(*records, *records)
    conflict = "e1#s/0/1@1001"
    assert log.said == [f"poison {conflict}", "poison odd"]
    assert heard == [("e1", b"e1", False), (conflict, b"other", True), ("odd", b"odd", True)]
    values = counters.values()
    assert (values["parked_total"], values["parked_per_hour"], values["redelivered_total"]) == (2, 2, 3)


def test_the_text_for_prometheus() -> None:
    counters = Counters()
    counters.gauges["in_flight"] = lambda: 3
    text = counters.prometheus('dis"putes')
    assert '# TYPE siding_kit_in_flight gauge\nsiding_kit_in_flight{flow="dis\\"putes"} 3\n' in text
    assert "# TYPE siding_kit_parked_total counter" in text


def test_the_gauges_of_a_consumer(ledger: Ledger) -> None:
    counters = Counters()
    KeyedConsumer(FLOW, ledger, lambda event: None, kafka={"bootstrap.servers": "127.0.0.1:1"}, watchers=[counters])
    gauges = ("in_flight", "oldest_unfinished_seconds", "oldest_unsent_seconds", "stopped_keys")
    values = counters.values()
    assert [values[name] for name in gauges] == [0] * 4


def test_a_gauge_that_cannot_be_read_is_left_out() -> None:
    def away() -> float:
        raise Unavailable("the ledger is away")

    counters = Counters()
    counters.gauges |= {"oldest_unsent_seconds": away, "in_flight": lambda: 3}
    assert "oldest_unsent_seconds" not in counters.values()
    text = counters.prometheus("disputes")
    assert "oldest_unsent_seconds" not in text
    assert 'siding_kit_in_flight{flow="disputes"} 3' in text


def test_recent_things_take_little_room() -> None:
    recent = Recent(10)
    for n in range(100_000):
        recent.add(n / 1000)
    assert 9_900 < recent.count(100.0) <= 10_000
    assert len(recent._moments) <= 1_001


def test_a_duplicate_gets_the_stored_result_and_costs_no_second_call(make_service: Callable[..., Service]) -> None:
    answered: list[tuple[str, Mapping[str, Any] | None]] = []
    duplicates = Duplicates(lambda event, result: answered.append((event.event_id, result)))
    service = make_service(watchers=[duplicates])
    service.returns(Effect(result={"verdict": "refund"}))
    service.take(source("e1", 0))
    assert answered == []
    service.take(source("e1", 0), source("e1", 5))
    assert answered == [("e1", {"verdict": "refund"})] * 2
    assert len(service.seen) == 1, "the model is not asked again"


def test_an_answer_that_fails_holds_nothing_up(make_service: Callable[..., Service], caplog) -> None:
    def answer(event: Event, result: Mapping[str, Any] | None) -> None:
        raise ValueError("no")

    service = make_service(watchers=[Duplicates(answer)])
    service.take(source("e1", 0), source("e1", 0))
    assert "watcher Duplicates.known raised ValueError; the work goes on without it" in caplog.text


@pytest.mark.parametrize("error", [KeyError("unexpected"), Poison("bad", evidence={"prompt": "p-2"})])
def test_what_was_noted_is_parked_with_the_event(service: Service, log: Log, error: Exception) -> None:
    def fails(event: Event) -> Exception:
        note(model="m-4.1", prompt="p-1")
        return error

    service.fails[b"e1"] = fails
    service.take(source("e1", 0, headers=(TRACE,)))
    prompt = "p-2" if isinstance(error, Poison) else "p-1"
    assert log.announcements[0].evidence == {"traceparent": TRACE[1].decode(), "model": "m-4.1", "prompt": prompt}


def test_notes_of_one_event_are_not_those_of_another(service: Service, log: Log) -> None:
    service.fails[b"e1"] = lambda event: note(model="m")
    service.fails[b"e2"] = Poison("bad")
    service.take(source("e1", 0), source("e2", 1))
    assert log.announcements[0].evidence is None


def test_a_note_outside_of_a_handler_is_nothing() -> None:
    note(model="m")
