"""No zombie: a handler that outlives its token, and a record of an old plan, change nothing."""

from datetime import timedelta

from django.utils import timezone

from parking.consumer import Effect
from parking.consumer.step import Work
from replay.models import Step
from tests.replay.line import tick


def write(value):
    def write_it(connection):
        connection.execute("INSERT INTO effect VALUES ('zombie', ?, 0)", (value,))

    return Effect(write_it)


def test_a_handler_that_outlives_its_token_has_no_effect(line):
    """It began under the first replay; that was cancelled, and a second one decided otherwise and finished."""
    line.park("e1", "e2")
    line.amend("e1", b"good first")
    first = tick(line.approved())
    record = line.read_replay_topic()[0]
    slow = line.gate.begin(record)
    assert isinstance(slow, Work)
    line.cancel(first)
    Step.objects.filter(state="in_flight").update(sent_at=timezone.now() - timedelta(minutes=5))
    assert tick(first).state == "cancelled"
    line.decide_again("e1", "skip")
    second = line.play(line.approved())
    assert second.state == "completed", second.stop_reason
    line.settle_work(slow.applied(write(b"zombie")))
    line.park_all()
    assert line.effects() == [("e2", b"good e2")]
    assert line.event("e1").state == "skipped"


def test_a_handler_that_finishes_after_a_newer_token_was_seen_is_fenced_although_nothing_else_happened(line):
    line.park("e1", "e2")
    line.amend("e1", b"good first")
    first = tick(line.approved())
    slow = line.gate.begin(line.read_replay_topic()[0])
    line.cancel(first)
    Step.objects.filter(state="in_flight").update(sent_at=timezone.now() - timedelta(minutes=5))
    assert tick(first).state == "cancelled"
    line.amend("e1", b"bad second")
    second = line.play(line.approved())
    assert second.state == "stopped"
    assert second.token > first.token
    line.settle_work(slow.applied(write(b"zombie")))
    line.park_all()
    assert line.effects() == []
    assert line.event("e1").state == "parked"


def test_an_old_plan_that_arrives_after_a_failure_is_dead(line):
    """A failure kills the token: every later record of that replay is fenced, whatever it says."""
    line.park("e1", "e2", "e3")
    line.decide("e1", "apply")
    replay = line.play(line.approved())
    assert replay.state == "stopped"
    for record in line.replayed:
        line.process(record, lambda _: None)
    line.park_all()
    assert line.effects() == []
    assert [line.event(name).state for name in ("e1", "e2", "e3")] == ["parked"] * 3
