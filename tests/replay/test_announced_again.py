"""What the consumer holds and the console never saw, because its parking record was lost, is announced anew."""

import pytest

from parking.consumer.announce import announce_again
from parking.errors import Refused
from parking.models import Quarantine
from tests.replay.line import KEY, Line


def lose_the_record_of(line: Line, *places: int) -> None:
    """The parking topic was truncated, or written over, before intake read these."""
    line.published = [wire for place, wire in enumerate(line.published) if place not in places]
    line.park_all()


def deliver(line: Line) -> None:
    for name in ("e1", "e2", "e3"):
        line.deliver(name, b"bad e1" if name == "e1" else b"good " + name.encode())


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
