"""What the consumer holds and the console never saw, because its parking record was lost, is announced anew."""

import time
from collections.abc import Callable

import pytest

from parking import wire
from parking.consumer import Effect, Event, Retries
from parking.consumer.announce import announce_again
from parking.consumer.evidence import note
from parking.consumer.process import Process
from parking.errors import Refused
from parking.models import Attempt, Outcome, Quarantine
from parking.record import Record
from parking.wire import Announcement, Command, names
from tests.replay.line import KEY, Line

EVIDENCE = {"model": "m-4.1"}


def lose_the_record_of(line: Line, *places: int) -> None:
    """The parking topic was truncated, or written over, before intake read these."""
    line.published = [wire for place, wire in enumerate(line.published) if place not in places]
    line.park_all()


def deliver(line: Line) -> None:
    def handler(event: Event) -> Effect:
        note(**EVIDENCE)
        return line.handler(event)

    line.process = Process(line.gate, line._outbox, handler, Retries(attempts=1))
    for name in ("e1", "e2", "e3"):
        line.deliver(name, b"bad e1" if name == "e1" else b"good " + name.encode())


def attempts(line: Line) -> list[tuple[str, int, int]]:
    found = Attempt.objects.filter(event_state__flow=line.flow).order_by("event_state", "token", "number")
    return list(found.values_list("event_state__event__event_id", "token", "number"))


def announced(line: Line, *event_ids: str) -> int:
    count = announce_again(line.kit(), line.ledger, KEY, event_ids)
    line._outbox.publish()
    line.park_all()
    return count


def test_what_was_lost_between_others_keeps_its_place(line: Line) -> None:
    deliver(line)
    lose_the_record_of(line, 1)
    line.decide("e1", "skip")
    stopped = line.play(line.approved())
    assert (stopped.state, line.steps(stopped)[1]) == ("stopped", ("e3", "failed"))
    assert "e2" in stopped.stop_reason, "it says which event is first there"
    assert announced(line, "e2") == 1
    known = [event.event.event_id for event in line.quarantine().events.select_related("event").order_by("position")]
    assert known == ["e1", "e2", "e3"]
    assert line.event("e2").event.to_be_fetched
    with pytest.raises(Refused, match="1 event has no decision yet: e2"):
        line.request()
    line.decide("e2", "skip")
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    assert line.effects() == [("e3", b"good e3")]
    assert line.quarantine().state == Quarantine.State.RELEASED


def test_what_the_console_knows_it_takes_for_told_twice(line: Line) -> None:
    deliver(line)
    line.park_all()
    before = [(e.event.event_id, e.position, e.kind, e.attempt_count) for e in line.quarantine().events.order_by("pk")]
    assert announced(line) == 3
    after = [(e.event.event_id, e.position, e.kind, e.attempt_count) for e in line.quarantine().events.order_by("pk")]
    assert after == before
    line.decide("e1", "skip")
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3")]


def test_a_lost_poison_event_comes_with_its_attempts(line: Line) -> None:
    deliver(line)
    lose_the_record_of(line, 0)
    assert announced(line) == 3
    event = line.event("e1")
    assert (event.kind, event.attempt_count) == ("poison", 1)
    assert event.quarantine_id == line.event("e3").quarantine_id
    assert [attempt.evidence for attempt in event.attempts.all()] == [EVIDENCE]


def test_a_failed_replay_is_told_as_one(line: Line) -> None:
    """What was tried under a token is no live attempt: the console would show it twice."""
    deliver(line)
    line.park_all()
    line.decide("e1", "apply")
    failed = line.play(line.approved())
    assert failed.state == "stopped"
    before = attempts(line)
    assert [token for _, token, _ in before] == [0, failed.token]
    assert announced(line) == 3
    assert attempts(line) == before


def test_a_failed_replay_that_nobody_saw_comes_with_its_attempts(line: Line) -> None:
    deliver(line)
    parked = wire.decode_parking(Record("p", 0, 0, 0, *line.published[0]))
    assert isinstance(parked, Announcement)
    asked = Command(
        names.APPLY, line.flow.name, KEY, 7, "1", event_id="e1", key=parked.key, value=parked.value,
        headers=parked.headers, source=parked.source, fingerprint=parked.fingerprint,
    )  # fmt: skip
    line.process(Record(line.flow.replay_topic, 0, 0, 0, *wire.command.encode(asked, None)), time.sleep)
    line.published.clear()
    assert announced(line) == 3
    assert attempts(line) == [("e1", 7, 2)]
    assert line.event("e1").kind == "poison"
    (told,) = Outcome.objects.filter(flow=line.flow, outcome="failed").values_list("evidence", flat=True)
    assert told == {"floor": 8, **EVIDENCE}


def test_one_id_may_be_given_as_a_text(line: Line) -> None:
    for name in ("e1", "e", "e12"):
        line.deliver(name, b"bad" if name == "e1" else b"good")
    assert announce_again(line.kit(), line.ledger, KEY, "e12") == 1


def test_a_key_that_the_prefix_rule_would_cut_again(make_line: Callable[..., Line]) -> None:
    line = make_line(key_rule="prefix")
    line.deliver("e1", b"bad", key=b"\0\0\0\0\x07\0account")
    line.published.clear()
    assert announce_again(line.kit(), line.ledger, b"\0account") == 1
    line._outbox.publish()
    line.park_all()
    assert bytes(line.quarantine().hold_key.key) == b"\0account"
