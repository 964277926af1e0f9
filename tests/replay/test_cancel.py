"""Nothing more is sent once a replay is cancelled, and it ends only when everything that was sent has its outcome."""

from datetime import timedelta

import pytest
from django.utils import timezone

from parking.errors import Conflict
from parking.models import Quarantine
from replay import run
from replay.models import Replay, Step
from tests.replay.line import tick


@pytest.fixture
def three(line):
    line.change(window=1)
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    return line.approved()


def test_before_it_runs_it_is_over_at_once_and_sends_nothing(line, three):
    assert line.cancel(three).state == "cancelled"
    run.finish(three.pk, seconds=1)
    assert line.read_replay_topic() == []
    assert line.quarantine().state == Quarantine.State.OPEN


def test_what_was_sent_gets_its_outcome_first_and_nothing_more_is_sent(line, three):
    three = tick(three)
    assert [state for _, state in line.steps(three)] == ["in_flight", "pending", "pending"]
    assert line.cancel(three).state == "cancelling"
    assert tick(three).state == "cancelling"
    line.serve()
    line.park_all()
    three = tick(three)
    assert three.state == "cancelled"
    assert line.steps(three) == [("e1", "skipped"), ("e2", "pending"), ("e3", "pending")]
    assert [record.last("siding-action") for record in line.replayed] == [b"skip"]
    assert line.read_replay_topic() == []
    assert line.quarantine().state == Quarantine.State.OPEN


def test_a_step_without_an_outcome_becomes_unconfirmed_and_that_counts(line, three):
    three = tick(three)
    line.cancel(three)
    Step.objects.filter(state="in_flight").update(sent_at=timezone.now() - timedelta(minutes=5))
    three = tick(three)
    assert three.state == "cancelled"
    assert line.steps(three)[0] == ("e1", "unconfirmed")
    assert len(line.read_replay_topic()) == 1


def test_a_paused_one_and_one_that_waits_for_its_release_can_be_cancelled(line, three):
    three = line.play_until(three, "releasing")
    line.cancel(three)
    three = line.play(three)
    assert three.state == "cancelled"
    assert line.quarantine().state in ("open", "released")


def test_a_plan_that_was_cancelled_cannot_act_after_a_newer_token(line, three):
    """The first replay's record is still in the log, unread, when a newer one runs: the consumer fences it."""
    three = tick(three)
    line.cancel(three)
    Step.objects.filter(state="in_flight").update(sent_at=timezone.now() - timedelta(minutes=5))
    assert tick(three).state == "cancelled"
    (old,) = line.read_replay_topic()
    line.amend("e1", b"good e1")
    newer = line.play(line.approved())
    assert newer.state == "completed", newer.stop_reason
    line.process(old, lambda _: None)
    line.park_all()
    assert [event for event, _ in line.effects()] == ["e1", "e2", "e3"]


def test_who_cancels_twice_hears_that_it_is_over(line, three):
    line.cancel(three)
    with pytest.raises(Conflict, match="is cancelled since"):
        line.cancel(three)


def test_an_unapproved_request_can_be_cancelled_too(line):
    line.park("e1")
    line.decide("e1", "skip")
    assert line.cancel(line.request()).state == "cancelled"
    assert line.request().state == "requested"
    assert Replay.objects.count() == 2
