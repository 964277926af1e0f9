"""The consumer alone opens a key; the console believes it only if that fits what it knows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from parking.models import Incident, Quarantine
from replay import recover
from replay.models import Replay
from tests.replay.line import again, tick


@pytest.fixture
def releasing(line):
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = line.play_until(line.approved(), "releasing")
    replay = tick(replay)
    return again(replay)


def age_marker():
    Replay.objects.update(release_sent_at=timezone.now() - timedelta(minutes=5))


def test_a_marker_without_an_answer_is_sent_again_once(line, releasing):
    first = line.read_replay_topic()
    age_marker()
    replay = tick(releasing)
    second = line.read_replay_topic()
    assert [record.headers for record in second] == [record.headers for record in first]
    assert (replay.state, replay.release_sends) == ("releasing", 2)
    line.process(second[0], lambda _: None)
    line.park_all()
    assert tick(replay).state == "completed"


def test_after_that_nobody_knows_and_it_says_so(line, releasing):
    age_marker()
    replay = tick(releasing)
    age_marker()
    replay = tick(replay)
    assert replay.state == "stopped"
    assert "has not answered the release marker" in replay.stop_reason
    assert line.quarantine().state == Quarantine.State.OPEN
    line.serve()
    line.park_all()
    assert line.quarantine().state == Quarantine.State.RELEASED


def test_a_release_at_a_position_that_does_not_exceed_ours_means_a_lost_ledger(line, releasing):
    line.read_replay_topic()
    line.tell("released", token=releasing.token, position=line.event("e2").position)
    replay = tick(releasing)
    assert replay.state == "stopped"
    assert "ledger was restored or lost" in replay.stop_reason
    assert Incident.objects.get().kind == "restored-ledger"
    assert line.quarantine().state == Quarantine.State.OPEN


def test_a_poison_event_right_after_the_release_opens_a_new_quarantine_and_does_not_disturb(line, releasing):
    line.serve()
    line.deliver("e9", b"bad e9")
    line.park_all()
    replay = tick(releasing)
    assert replay.state == "completed", replay.stop_reason
    assert list(Quarantine.objects.order_by("pk").values_list("state", flat=True)) == ["released", "open"]


def test_a_release_of_another_token_is_no_answer_to_this_marker(line, releasing):
    line.tell("released", token=releasing.token - 1, position=1)
    assert tick(releasing).state == "releasing"


@pytest.mark.parametrize("outcome", ["fenced", "refused"])
def test_a_marker_that_the_consumer_does_not_accept_stops_the_replay(line, releasing, outcome):
    line.tell(outcome, token=releasing.token)
    replay = tick(releasing)
    assert replay.state == "stopped"
    assert outcome in replay.stop_reason


def test_the_key_may_be_released_although_the_replay_was_cancelled_meanwhile(line, releasing):
    line.cancel(releasing)
    line.serve()
    line.park_all()
    replay = tick(releasing)
    assert replay.state == "cancelled"
    assert "answered released" in replay.stop_reason
    assert line.quarantine().state == Quarantine.State.RELEASED


def test_watch_has_nothing_to_settle_then(line, releasing):
    assert recover.settle_late() == 0
