"""A worker that is killed at any point: another one goes on, nothing is lost and nothing applied twice."""

import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from django.db.models.functions import Now

from replay import recover, run
from replay.models import Replay
from tests.replay.line import again

pytestmark = pytest.mark.slow

WORKER = """
import os, signal, sys
import django
django.setup()
from replay import release, run, sending

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

place, replay_id = sys.argv[1], int(sys.argv[2])
if place == "between record and send":
    sending.send = die
elif place == "between send and record":
    sending._acknowledge = die
elif place == "in the middle of sending":
    from replay import kafka_out
    handed = []
    enqueue = kafka_out._enqueue
    def counted(producer, *rest):
        handed.append(enqueue(producer, *rest))
        if len(handed) == 2:
            producer.flush(60)
            die()
        return handed[-1]
    kafka_out._enqueue = counted
elif place == "between the marker's record and its send":
    release.send = die
run.finish(replay_id, seconds=60, owner="killed")
"""


def worker(variables, place, replay):
    return subprocess.Popen([sys.executable, "-c", WORKER, place, str(replay.pk)], env=variables)


def expire_lease(replay):
    """The time after which the killed worker's lease is over."""
    Replay.objects.filter(pk=replay.pk).update(lease_until=Now())


@pytest.fixture
def approved(line):
    return approved_of(line)


def approved_of(line):
    line.park("e1", "e2", "e3", "e4")
    line.decide("e1", "skip")
    return line.approved()


@pytest.mark.parametrize("place", ["between record and send", "between send and record", "in the middle of sending"])
def test_killed_around_a_send(make_line, variables, place):
    """The fourth event is not sent in the first second: it has to wait until the others have been sent again."""
    line = make_line(pace_per_second=3)
    approved = approved_of(line)
    killed = worker(variables, place, approved)
    assert killed.wait(60) == -signal.SIGKILL
    assert [state for _, state in line.steps(approved)] == ["in_flight"] * 3 + ["pending"]
    assert set(approved.steps.values_list("acked_at", flat=True)) == {None}
    assert run.advance(approved.pk, owner="too early") is None, "the lease of the killed one is not over"
    expire_lease(approved)
    replay = line.play(approved)
    assert replay.state == "completed", replay.stop_reason
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3"), ("e4", b"good e4")]
    assert set(replay.steps.values_list("sends", flat=True)) == {1}
    assert line.quarantine().state == "released"


def test_killed_around_the_marker(line, approved, variables):
    replay = line.play_until(approved, "releasing")
    killed = worker(variables, "between the marker's record and its send", replay)
    assert killed.wait(60) == -signal.SIGKILL
    assert again(replay).release_sent_at is not None
    expire_lease(replay)
    replay = line.play(replay)
    assert replay.state == "completed", replay.stop_reason
    assert [record.last("siding-action") for record in line.replayed].count(b"release") == 1


def test_of_100_events_killed_after_37_acknowledgements_the_next_worker_goes_on_at_38(make_line, variables):
    """REP-16."""
    line = make_line(window=37, pace_per_second=10_000)
    line.park(*(f"e{number}" for number in range(100)))
    line.decide("e0", "skip")
    replay = line.approved()
    killed = worker(variables, "wherever it is", replay)
    until = time.monotonic() + 120
    while replay.steps.filter(acked_at__isnull=False).count() < 37 and time.monotonic() < until:
        time.sleep(0.05)
    killed.kill()
    killed.wait(60)
    expire_lease(replay)
    replay = line.play(replay)
    assert replay.state == "completed", replay.stop_reason
    sent = Counter(record.last("siding-event-id") for record in line.replayed)
    assert len(sent) == 101, "100 events and the marker"
    assert sum(sent.values()) - len(sent) <= 1, "at most the one in flight is sent twice"
    assert [event for event, _ in line.effects()] == [f"e{number}" for number in range(1, 100)]


def test_watch_finds_the_replay_of_a_killed_worker_once_its_lease_is_over(line, approved, variables):
    worker(variables, "between send and record", approved).wait(60)
    assert recover.stuck() == []
    expire_lease(approved)
    assert recover.stuck() == [approved.pk]
