"""A pause sends nothing more; what is in flight gets its outcome; resuming goes on where it stood."""

import pytest

from parking.errors import Conflict
from replay import pause
from tests.replay.line import ANNE, tick


def test_paused_in_the_middle_and_resumed(line):
    line.change(window=1)
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    replay = tick(line.approved())
    assert pause.pause(replay_id=replay.pk, actor=ANNE, reason="coffee").state == "paused"
    line.serve()
    line.park_all()
    replay = tick(replay)
    assert [state for _, state in line.steps(replay)] == ["skipped", "pending", "pending"]
    assert tick(replay).state == "paused"
    assert line.read_replay_topic() == []
    pause.resume(replay_id=replay.pk, actor=ANNE)
    assert line.play(replay).state == "completed"
    assert [event for event, _ in line.effects()] == ["e2", "e3"]


def test_a_failure_during_the_pause_stops_it_when_it_is_resumed(line):
    line.park("e1", "e2", bad=2)
    line.decide("e1", "apply")
    replay = tick(line.approved())
    pause.pause(replay_id=replay.pk, actor=ANNE)
    line.serve()
    line.park_all()
    assert tick(replay).state == "paused"
    pause.resume(replay_id=replay.pk, actor=ANNE)
    replay = line.play(replay)
    assert (replay.state, replay.stopped_at_step) == ("stopped", 1)


def test_only_a_running_one_is_paused_and_only_a_paused_one_resumed(line):
    line.park("e1")
    line.decide("e1", "skip")
    replay = line.request()
    with pytest.raises(Conflict, match="only a running one"):
        pause.pause(replay_id=replay.pk, actor=ANNE)
    with pytest.raises(Conflict, match="only a paused one"):
        pause.resume(replay_id=replay.pk, actor=ANNE)
