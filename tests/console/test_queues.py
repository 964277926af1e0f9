"""Redis may go away and come back at any time: whoever works on its queues recovers, and nobody waits for it."""

import os
import subprocess
import sys
import time

import pytest
import redis
import rq
from kombu.exceptions import OperationalError

from console.celery import app
from console.embedded.redis import Redis
from console.settings import _next_database
from tests.waiting import wait_until

CELERY = ["-m", "celery", "-A", "console", "worker", "--pool=solo", "--without-mingle", "--without-gossip"]
RQ = ["manage.py", "rqworker", "alerts"]


@pytest.fixture
def server(tmp_path):
    server = Redis()
    server.start(tmp_path / "redis")
    yield server
    server.stop()


@pytest.fixture
def start(variables, server, tmp_path):
    """start(arguments) → a process of ours that works on the queues of `server`."""
    started = []

    def start(arguments):
        log = (tmp_path / "log").open("ab")
        env = {**variables, "SIDING_REDIS_URL": server.address}
        started.append(subprocess.Popen([sys.executable, *arguments], env=env, stdout=log, stderr=log))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait(60)


@pytest.mark.slow
def test_a_worker_goes_on_by_itself_after_redis_was_away(start, server, tmp_path):
    worker = start(CELERY)
    with app.connection_for_write(server.address) as connection, redis.Redis.from_url(server.address) as client:
        send(connection)
        wait_until(lambda: not client.exists("replays", "unacked"))
        server.stop()
        time.sleep(1)
        server.start(tmp_path / "redis")
        send(connection)
        wait_until(lambda: not client.exists("replays", "unacked"))
    assert worker.poll() is None


def send(connection):
    """A replay that does not exist: the task finds nothing to do."""
    app.send_task("replay.advance", [0], connection=connection)


def test_a_page_does_not_wait_for_a_redis_that_is_away(server):
    server.stop()
    began = time.monotonic()
    with pytest.raises(OperationalError), app.connection_for_write(server.address) as connection:
        send(connection)
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_the_notifier_goes_on_by_itself_after_redis_was_away(start, server, tmp_path):
    notifier = start(RQ)
    with redis.Redis.from_url(_next_database(server.address)) as client:
        alerts = rq.Queue("alerts", connection=client)
        assert done(alerts.enqueue("math.sqrt", 4))
        wait_until(lambda: [worker.get_state() for worker in rq.Worker.all(client)] == ["idle"])
        server.stop()
        time.sleep(1)
        server.start(tmp_path / "redis")
        assert done(alerts.enqueue("math.sqrt", 9))
    assert notifier.poll() is None


def done(job):
    wait_until(lambda: job.get_status() == "finished")
    return True


@pytest.mark.parametrize(
    ("url", "further"),
    [
        ("redis://h:1/0", "redis://h:1/1"),
        ("redis://h:1", "redis://h:1/1"),
        ("redis://:p@h:1/14?ssl_cert_reqs=none", "redis://:p@h:1/15?ssl_cert_reqs=none"),
    ],
)
def test_alerts_have_a_redis_database_of_their_own(url, further):
    assert _next_database(url) == further


def test_the_queues_are_told_apart():
    from django.conf import settings

    assert settings.RQ_QUEUES["alerts"]["URL"] != settings.CELERY_BROKER_URL
    assert os.environ["SIDING_REDIS_URL"] == settings.CELERY_BROKER_URL
