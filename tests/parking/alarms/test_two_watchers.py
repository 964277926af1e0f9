"""However many watch at once, one transition tells once (ALM-09): two processes, and two connections at one moment."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections

from parking import alarms
from parking.models import Delivery, Flow, Incident
from tests.alarm_story import Lot, hook, intake_lives, make_flow, rule, settle, stop, told

WATCHER = """
import os, select
import django
django.setup()
from parking import alarms
print("ready", flush=True)
while os.read(0, 1):
    while not select.select([0], [], [], 0)[0]:
        alarms.evaluate()
    os.read(0, 1)
    alarms.evaluate()
    print("done", flush=True)
"""


@pytest.fixture
def watchers(variables):
    """Two processes that evaluate without a pause, and once more after it: `for _ in watchers(): what happens`."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started: list[Any] = [subprocess.Popen([sys.executable, "-c", WATCHER], env=variables, **pipes) for _ in range(2)]

    def say(expected):
        assert [process.stdout.readline() for process in started] == [f"{expected}\n"] * 2

    def tell(letter):
        for process in started:
            process.stdin.write(letter)
            process.stdin.flush()

    def look():
        tell("<")
        yield
        tell(">")
        say("done")

    say("ready")
    yield look
    for process in started:
        process.stdin.close()
        process.wait(60)


@pytest.mark.slow
def test_two_processes_tell_each_transition_once(watchers):
    flow = make_flow("orders")
    hook(flow.team, name="pager")
    lot = Lot(flow)
    for severity in ("critical", "warning"):
        rule(flow, resolve_at=0, severity=severity)
    intake_lives(seconds_ago=-3600)  # for as long as this takes
    for _ in range(3):
        for _ in watchers():
            key = stop(lot, waiting=3)
        for _ in watchers():
            settle(lot, key, "applied", "applied", "applied")
    assert Incident.objects.count() == 6
    for incident in Incident.objects.all():
        assert told(incident) == [("pager", "opened"), ("pager", "resolved")]


def together(*calls):
    """Call them at the same moment, each on a connection of its own; what they returned."""
    barrier = Barrier(len(calls))

    def one(call):
        try:
            barrier.wait(60)
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


@pytest.mark.django_db(transaction=True)
def test_evaluations_at_one_moment_on_many_connections_open_one_incident():
    flow = make_flow("orders")
    hook(flow.team)
    rule(flow)
    intake_lives()
    stop(Lot(flow), waiting=3)
    assert sum(together(*[alarms.evaluate] * 6)) == 1
    assert Delivery.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_cause_found_by_two_intakes_at_one_moment_opens_one_incident():
    flow = make_flow("orders")
    hook(flow.team)

    def found():
        own = Flow.objects.get(pk=flow.pk)
        return alarms.open_incident(kind="gap", flow=own, key="orders.parking/0", summary="gone").pk

    assert len(set(together(*[found] * 6))) == 1
    assert Delivery.objects.count() == 1
