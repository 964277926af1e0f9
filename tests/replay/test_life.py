"""The whole life of a key: parked, decided, approved by another, replayed in order, released, and live again."""

from parking.models import EventState, Quarantine
from replay import amend
from tests.replay.line import ANNE


def test_amended_and_held_events_take_effect_in_order_and_the_key_is_released(line):
    line.park("e1", "e2", "e3")
    amend.amend(
        event_state_id=line.event("e1").pk, value=b"good e1", headers=(("event-id", b"e1"),), actor=ANNE, reason="typo"
    )
    replay = line.play(line.approved())
    assert replay.state == "completed", replay.stop_reason
    assert line.effects() == [("e1", b"good e1"), ("e2", b"good e2"), ("e3", b"good e3")]
    assert line.steps(replay) == [("e1", "applied"), ("e2", "applied"), ("e3", "applied")]
    assert line.quarantine().state == Quarantine.State.RELEASED
    line.deliver("e4", b"good e4")
    assert line.effects()[-1] == ("e4", b"good e4")


def test_a_failure_stops_the_replay_and_a_second_one_finishes(line):
    line.park("e1", "e2", "e3", bad=2)
    line.decide("e1", "skip")
    line.decide("e2", "apply")
    first = line.play(line.approved())
    assert first.state == "stopped"
    assert first.stopped_at_step == 2
    assert line.steps(first) == [("e1", "skipped"), ("e2", "failed"), ("e3", "fenced")]
    assert line.effects() == []
    assert line.quarantine().state == Quarantine.State.OPEN
    assert line.event("e2").state == EventState.State.PARKED
    amend.amend(
        event_state_id=line.event("e2").pk, value=b"good e2", headers=(("event-id", b"e2"),), actor=ANNE, reason="typo"
    )
    second = line.play(line.approved())
    assert second.state == "completed", second.stop_reason
    assert second.token > first.token
    assert [event for event, _ in line.effects()] == ["e2", "e3"]
    assert line.quarantine().state == Quarantine.State.RELEASED
