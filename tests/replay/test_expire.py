"""A request or an approval that is not used in time is void."""

from datetime import timedelta

from django.utils import timezone

from parking.models import JournalEntry
from replay import expire, run
from replay.models import Replay
from tests.replay.line import tick


def past(replay):
    Replay.objects.filter(pk=replay.pk).update(expires_at=timezone.now() - timedelta(seconds=1), due_at=None)


def asked(line):
    line.park("e1")
    line.decide("e1", "skip")
    return line.request()


def test_a_request_expires_and_the_journal_says_so(line):
    replay = asked(line)
    assert expire.expire_due() == 0
    past(replay)
    assert expire.expire_due() == 1
    assert Replay.objects.get().state == "expired"
    assert JournalEntry.objects.latest("id").actor_id == "system:watch"
    assert line.request().state == "requested"


def test_an_approval_expires_too_and_a_worker_that_comes_late_does_not_run_it(line):
    replay = line.approve(asked(line))
    past(replay)
    run.advance(replay.pk, owner="late", seconds=0.1)
    assert Replay.objects.get().state == "expired"
    assert line.read_replay_topic() == []


def test_one_that_runs_has_no_deadline(line):
    replay = line.approve(asked(line))
    tick(replay)
    past(replay)
    assert expire.expire_due() == 0
    assert line.play(replay).state == "completed"
