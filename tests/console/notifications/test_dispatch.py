"""From the table to the receiver: through Redis and the notifier, and without either."""

import socket
import subprocess
import sys
import threading
import time

import django_rq
import orjson
import pytest
from django.db import connection, transaction
from rq import SimpleWorker

from console.embedded.redis import Redis
from console.notifications import dispatch, dispatching
from parking import alarms
from parking.models import Beat, Delivery
from replay import http_out
from tests.alarm_story import Lot, hook, intake_lives, make_flow, rule, settle, stop
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def empty_queue():
    django_rq.get_queue("alerts").empty()


def work():
    """Let a notifier do what is queued."""
    queue = django_rq.get_queue("alerts")
    SimpleWorker([queue], connection=queue.connection).work(burst=True)


def by():
    return [answer["by"] for answer in Delivery.objects.get().answers]


def test_the_notifier_sends_what_watch_queued(incident, receiver):
    assert dispatch() == 1
    assert receiver.got == []
    work()
    assert (by(), len(receiver.got)) == (["notifier"], 1)
    assert dispatch() == 0


def test_one_try_is_queued_once_however_often_watch_looks(incident):
    """Case OPS-05."""
    for _ in range(4):
        dispatch()
    assert len(django_rq.get_queue("alerts")) == 1


def test_a_job_that_comes_twice_sends_once(incident, receiver):
    dispatch()
    Delivery.objects.update(queued_at=None)
    dispatch()
    assert len(django_rq.get_queue("alerts")) == 2
    work()
    assert len(receiver.got) == 1


def test_the_job_carries_an_id_and_nothing_else(incident):
    dispatch()
    (job,) = django_rq.get_queue("alerts").jobs
    delivery = Delivery.objects.get().pk
    assert (job.args, job.kwargs, job.meta) == ((delivery,), {}, {})
    assert job.description == f"delivery {delivery}"


def test_guarantee_9_watch_sends_by_itself_while_redis_is_down(incident, receiver, settings):
    settings.RQ_QUEUES = {"alerts": {"URL": "redis://127.0.0.1:9/1"}}
    assert dispatch() == 1
    wait_until(lambda: Delivery.objects.get().state == "delivered")
    assert (by(), len(receiver.got)) == (["watch"], 1)


def test_a_redis_that_accepts_and_never_answers_holds_watch_for_seconds_only(incident, receiver, settings):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings.RQ_QUEUES = {"alerts": {"URL": f"redis://127.0.0.1:{deaf.getsockname()[1]}/1"}}
        began = time.monotonic()
        dispatch()
        assert time.monotonic() - began < 20
        wait_until(lambda: Delivery.objects.get().state == "delivered")
    assert by() == ["watch"]


def test_ops_04_redis_that_lost_everything_loses_no_page(incident, receiver, settings):
    settings.ALERT_TAKEOVER_SECONDS = 60
    dispatch()
    django_rq.get_queue("alerts").connection.flushdb()
    assert dispatch() == 0
    settings.ALERT_TAKEOVER_SECONDS = 0
    assert dispatch() == 1
    wait_until(lambda: Delivery.objects.get().state == "delivered")
    assert by() == ["watch"]


def test_what_no_notifier_takes_is_sent_by_watch_and_not_again_by_a_notifier_that_comes_late(
    incident, receiver, settings
):
    settings.ALERT_TAKEOVER_SECONDS = 60
    dispatch()
    settings.ALERT_TAKEOVER_SECONDS = 0
    dispatch()
    wait_until(lambda: Delivery.objects.get().state == "delivered")
    work()
    assert len(receiver.got) == 1


def test_a_slow_receiver_holds_neither_watch_nor_another_page(flow, receiver, make_receiver, settings, monkeypatch):
    monkeypatch.setattr(http_out, "SECONDS", 240)
    settings.RQ_QUEUES = {"alerts": {"URL": "redis://127.0.0.1:9/1"}}
    answers = threading.Event()
    receiver.answers = [lambda to: answers.wait(240)]
    quick = make_receiver()
    for url in (receiver.url, quick.url):
        hook(flow.team, url)
    alarms.open_incident(kind="gap", flow=flow, key="", summary="gone")
    dispatch()
    wait_until(lambda: quick.got)
    assert dispatching._carried
    answers.set()
    wait_until(lambda: not dispatching._carried)


@pytest.fixture
def own_redis(tmp_path):
    redis = Redis()
    redis.start(tmp_path / "redis")
    yield redis
    redis.stop()


@pytest.fixture
def start(variables, receiver, own_redis, tmp_path):
    """start("watch") → a process of ours on `own_redis`."""
    env = {
        **variables,
        "SIDING_REDIS_URL": own_redis.address,
        "SIDING_OUTBOUND_ALLOW": f"127.0.0.1:{receiver.port}",
        "SIDING_ALERT_TAKEOVER_SECONDS": "300",
        "SIDING_WATCH_INTERVAL_SECONDS": "0.2",
    }
    started = []

    def start_one(*arguments):
        log = (tmp_path / "log").open("ab")
        process = subprocess.Popen([sys.executable, "manage.py", *arguments], env=env, stdout=log, stderr=log)
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.wait(60)


@pytest.mark.slow
def test_from_breach_to_resolution_while_redis_dies_and_a_watch_is_killed(start, own_redis, receiver):
    flow = make_flow("orders")
    hook(flow.team, receiver.url)
    rule(flow, resolve_at=0)
    lot = Lot(flow)
    intake_lives(seconds_ago=-3600)  # for as long as this takes
    watches = [start("watch"), start("watch")]
    start("rqworker", "alerts")

    key = stop(lot, waiting=3)
    wait_until(lambda: receiver.got)
    wait_until(lambda: Beat.objects.filter(process="watch").count() == 2)
    wait_until(lambda: not Delivery.objects.open().exists())
    assert Delivery.objects.get().answers[0]["by"] == "notifier"

    own_redis.stop()
    worked = Beat.objects.get(process="watch", note="works").pid
    next(watch for watch in watches if watch.pid == worked).kill()
    settle(lot, key, "applied", "applied", "applied")
    wait_until(lambda: len(receiver.got) == 2)
    wait_until(lambda: not Delivery.objects.open().exists())
    time.sleep(1)

    assert [orjson.loads(one.body)["type"] for one in receiver.got] == ["incident.opened", "incident.resolved"]
    assert Delivery.objects.get(transition="resolved").answers[0]["by"] == "watch"


def test_finding_what_is_due_walks_an_index(incident):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")  # as if there were many
        plan = Delivery.objects.due().explain()
    assert "delivery_open" in plan
