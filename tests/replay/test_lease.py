"""One worker per replay; whoever lost the lease can change nothing."""

import threading
import time

import pytest
from django.db import connection
from django.db.models.functions import Now

from replay import lease as leases
from replay import run, sending
from replay.lease import Lease, LeaseLost
from replay.models import Replay, Step
from tests.replay.line import again


@pytest.fixture
def approved(line):
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    return line.approved()


def expire_lease(replay):
    Replay.objects.filter(pk=replay.pk).update(lease_until=Now())


def taken(replay: Replay, owner: str) -> Lease:
    lease = leases.take(replay.pk, owner)
    assert lease is not None
    return lease


def record_upcoming(lease: Lease) -> tuple[Replay, list[Step]]:
    """What a worker does before it sends."""
    with leases.held(lease) as replay:
        assert replay.started_at is not None
        steps = sending.upcoming(replay, 0, replay.started_at)
        sending.record(steps)
    return replay, steps


def test_twenty_workers_at_once_and_one_has_it(approved, at_once):
    taken = at_once(20, lambda number: leases.take(approved.pk, f"worker {number}"))
    assert sum(one is not None for one in taken) == 1


def test_a_message_before_its_time_is_dropped_and_one_in_time_is_not(approved):
    lease = taken(approved, "a")
    leases.give_back(lease, due_in=30)
    assert leases.take(approved.pk, "b") is None
    again(approved)
    assert leases.take(approved.pk, "b") is not None


def test_an_epoch_that_is_over_cannot_write(approved):
    old = taken(approved, "slow")
    expire_lease(approved)
    new = taken(approved, "fast")
    assert new.epoch == old.epoch + 1
    with pytest.raises(LeaseLost), leases.held(old):
        pytest.fail("a lost lease let somebody in")
    with leases.held(new) as replay:
        assert replay.pk == approved.pk
    leases.give_back(old, due_in=None)
    assert Replay.objects.get().lease_until is not None


def test_a_worker_that_lost_its_lease_between_recording_and_acknowledging_writes_nothing(line, approved):
    run.advance(approved.pk, owner="first", seconds=0)  # starts it
    again(approved)
    slow = taken(approved, "slow")
    replay, steps = record_upcoming(slow)
    expire_lease(approved)
    assert leases.take(approved.pk, "fast")
    with pytest.raises(LeaseLost):
        sending.send(slow, replay, steps)
    assert set(approved.steps.values_list("acked_at", flat=True)) == {None}


def test_without_time_left_nothing_is_sent(line, approved, settings):
    run.advance(approved.pk, owner="first", seconds=0)
    again(approved)
    settings.REPLAY_LEASE_SECONDS = 1  # less than the reserve
    lease = taken(approved, "late")
    replay, steps = record_upcoming(lease)
    before = len(line.read_replay_topic())
    assert "lease" in sending.send(lease, replay, steps)
    assert len(line.read_replay_topic()) + before == before


def test_two_workers_drive_one_replay_and_everything_happens_once(line, approved):
    """Case OPS-01."""
    stop = threading.Event()

    def work(name):
        while not stop.is_set():
            run.advance(approved.pk, owner=name, seconds=0.02)
            time.sleep(0.005)
        connection.close()

    workers = [threading.Thread(target=work, args=(f"worker {number}",)) for number in range(2)]
    for worker in workers:
        worker.start()
    replay, until = approved, time.monotonic() + 240
    while replay.state in ("approved", "running", "releasing") and time.monotonic() < until:
        line.serve()
        line.park_all()
        replay = again(replay)
    stop.set()
    for worker in workers:
        worker.join()
    assert replay.state == "completed", replay.stop_reason
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3")]
    assert [record.last("siding-action") for record in line.replayed] == [b"skip", b"apply", b"apply", b"release"]
