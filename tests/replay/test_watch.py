"""`manage.py watch`: any number may run, one works, and it takes over and comes back by itself."""

import logging
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from parking.models import Beat
from replay import recover
from replay.models import Replay
from replay.watch import Watch
from tests.replay.line import tick
from tests.waiting import wait_until


@pytest.fixture
def other_session():
    """A second database session, such as that of another process."""
    other = connections.create_connection("default")
    yield other
    other.close()


def holds_lock(session, watch_lock):
    with session.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [watch_lock])
        return cursor.fetchone()[0]


def test_one_works_and_the_others_wait_and_take_over(transactional_db, other_session):
    from replay.watch import LOCK

    assert holds_lock(other_session, LOCK)
    watch = Watch()
    assert not watch.once()
    assert Beat.objects.get(process="watch").note == "waits to take over"
    other_session.close()
    wait_until(watch.once)
    assert watch.once(), "it keeps the lock"
    assert Beat.objects.get(process="watch").note == "works"
    watch.close()


def test_once_expires_recovers_and_settles(line):
    line.park("e1")
    line.decide("e1", "skip")
    replay = line.request()
    Replay.objects.filter(pk=replay.pk).update(expires_at=replay.requested_at)
    call_command("watch", once=True)
    assert Replay.objects.get().state == "expired"


def test_a_cut_connection_is_one_line_and_the_next_round_works(transactional_db, other_session, caplog):
    watch = Watch()
    assert watch.once()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    with other_session.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])  # and waits until it is gone
    with caplog.at_level(logging.WARNING):
        assert not watch.once()
        assert watch.once()
    assert [record.name for record in caplog.records if record.levelno >= logging.WARNING] == ["replay.watch"] * 2
    watch.close()


def test_stuck_replays_are_queued_again_but_not_those_that_somebody_drives_or_that_pause(line, monkeypatch):
    monkeypatch.setattr(recover, "LATE", timedelta(minutes=10))  # no message is late here, however slow the machine is
    line.park("e1")
    line.decide("e1", "skip")
    replay = line.request()
    assert recover.stuck() == []
    line.approve(replay)
    assert recover.stuck() == [], "its message has just been sent"
    Replay.objects.update(due_at=None)
    assert recover.stuck() == [replay.pk]
    assert recover.recover() == 1
    replay = tick(replay)
    Replay.objects.update(state="paused", due_at=None)
    assert recover.stuck() == []


APPROVE = """
import sys
import django
django.setup()
from parking.actor import Actor
from replay import approve, recover
from replay.models import Replay

replay = Replay.objects.get()
approve.approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=Actor("user:2", "reviewer"), reason="right")
for _ in range(3):
    Replay.objects.update(due_at=None)
    assert recover.recover() == 0
"""


@pytest.mark.slow
def test_without_redis_it_is_one_line_and_nothing_is_lost(line, variables):
    line.park("e1")
    line.decide("e1", "skip")
    line.request()
    gone = {**variables, "SIDING_REDIS_URL": "redis://127.0.0.1:1/0"}
    ran = subprocess.run([sys.executable, "-c", APPROVE], env=gone, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("Redis cannot be reached") == 1, ran.stderr
    replay = Replay.objects.get()
    assert replay.state == "approved"
    assert recover.recover() == 1
    assert line.play(replay).state == "completed"


def test_processes_that_are_long_gone_are_forgotten(transactional_db):
    gone = Beat.objects.create(process="worker", host="gone", pid=1, at=timezone.now() - timedelta(days=2))
    watch = Watch()
    watch.once()
    assert not Beat.objects.filter(pk=gone.pk).exists()
    assert Beat.objects.filter(process="watch").exists()
    watch.close()


@pytest.mark.slow
def test_the_process_ends_on_sigterm(variables):
    watch = subprocess.Popen([sys.executable, "manage.py", "watch"], env=variables, stderr=subprocess.PIPE)
    wait_until(Beat.objects.filter(process="watch", pid=watch.pid).exists)
    watch.send_signal(signal.SIGTERM)
    assert watch.wait(60) == 0


@pytest.mark.slow
def test_a_database_that_does_not_answer_is_one_line_and_it_goes_on_trying(variables, tmp_path):
    gone = {**variables, "SIDING_DATABASE_URL": "postgresql://postgres@127.0.0.1:1/siding"}
    said = tmp_path / "said"
    with said.open("w") as log:
        fast = {**gone, "SIDING_WATCH_INTERVAL_SECONDS": "0.1"}
        watch = subprocess.Popen([sys.executable, "manage.py", "watch"], env=fast, stderr=log)
    wait_until(lambda: "trying again" in said.read_text())
    time.sleep(1)
    assert watch.poll() is None
    watch.terminate()
    watch.wait(60)
    assert said.read_text().count("the database cannot be used, trying again") == 1
    assert "Traceback" not in said.read_text()
