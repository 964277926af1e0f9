"""Who sends, when, and what survives: leases, order, dead processes."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest
from django.db import connections
from django.utils import timezone

from console.notifications import deliver as delivering
from console.notifications.deliver import claim, deliver, settle
from console.notifications.verdict import Fate, Verdict
from parking import alarms
from parking.models import Delivery, Hook
from tests.waiting import wait_until

ARRIVED = Verdict(Fate.DELIVERED, "204 No Content", 204)


def over(incident):
    alarms.close_incident(kind="gap", flow=incident.flow, key="orders.parking/3", reason="over")


@pytest.mark.django_db
def test_one_claim_at_a_time_and_none_once_it_is_delivered(incident):
    delivery = Delivery.objects.get()
    mine = claim(delivery.pk)
    assert mine is not None
    assert claim(delivery.pk) is None
    assert settle(mine, ARRIVED, by="notifier")
    assert claim(delivery.pk) is None


@pytest.mark.django_db
def test_a_lease_that_ran_out_is_taken_over_and_the_late_one_writes_nothing(incident):
    late = claim(Delivery.objects.get().pk)
    assert late is not None
    Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    second = claim(late.pk)
    assert second is not None
    assert (second.webhook_id, second.tries) == (late.webhook_id, 2)
    assert not settle(late, Verdict(Fate.FAILED, "late"), by="notifier")
    assert settle(second, ARRIVED, by="watch")
    assert Delivery.objects.get().state == "delivered"


def test_a_lease_outlasts_every_sending():
    from replay import http_out

    assert delivering.LEASE[Hook.Kind.WEBHOOK] >= timedelta(seconds=4 * http_out.SECONDS)


@pytest.mark.django_db(transaction=True)
def test_many_at_one_moment_send_once(incident, receiver):
    delivery = Delivery.objects.get()
    barrier = Barrier(8)

    def one(number):
        barrier.wait(60)
        try:
            return deliver(delivery.pk, by=f"process {number}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(8))) == 1
    assert len(receiver.got) == 1


@pytest.mark.django_db
def test_the_resolution_waits_for_the_opening(incident, receiver):
    receiver.answers = [500, 204]
    over(incident)
    opened, resolved = Delivery.objects.order_by("pk")
    assert not deliver(resolved.pk, by="watch")
    deliver(opened.pk, by="watch")
    assert not deliver(resolved.pk, by="watch")
    Delivery.objects.filter(pk=opened.pk).update(due_at=timezone.now())
    assert deliver(opened.pk, by="watch")
    assert deliver(resolved.pk, by="watch")
    assert receiver.ids() == [opened.webhook_id, opened.webhook_id, resolved.webhook_id]


@pytest.mark.django_db
def test_the_resolution_follows_an_opening_that_failed_for_good(incident, receiver):
    receiver.answers = [400, 204]
    over(incident)
    opened, resolved = Delivery.objects.order_by("pk")
    assert deliver(opened.pk, by="watch")
    assert deliver(resolved.pk, by="watch")
    assert Delivery.objects.get(pk=resolved.pk).state == "delivered"


@pytest.mark.django_db
def test_a_fault_of_our_own_is_a_try_that_failed_not_a_page_that_is_lost(incident, pager):
    type(pager).objects.update(address="https://[half")
    delivery = Delivery.objects.get()
    assert deliver(delivery.pk, by="watch")
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    type(pager).objects.update(kind="email", address="nobody\r\nBcc: x@evil.example")
    Delivery.objects.update(state="pending", due_at=timezone.now())
    assert deliver(delivery.pk, by="watch")
    delivery.refresh_from_db()
    assert delivery.state == "pending"


@pytest.mark.django_db
def test_what_is_kept_of_many_tries_is_bounded(incident, receiver):
    receiver.answers = [500]
    for _ in range(3):
        Delivery.objects.update(due_at=timezone.now(), answers=[{"answer": "x"}] * 60)
        deliver(Delivery.objects.get().pk, by="watch")
    assert len(Delivery.objects.get().answers) == delivering.KEPT_ANSWERS


SENDER = """
import sys
import django
django.setup()
from console.notifications.deliver import deliver
deliver(int(sys.argv[1]), by="notifier")
"""


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_sends_is_followed_by_another_with_the_same_id(
    variables, receiver, make_receiver
):
    from tests.alarm_story import hook, make_flow

    flow = make_flow("orders")
    hook(flow.team, receiver.url)
    alarms.open_incident(kind="gap", flow=flow, key="", summary="gone")
    answers = Event()
    receiver.answers = [lambda to: answers.wait(60), 204]
    delivery = Delivery.objects.get()
    env = {**variables, "SIDING_OUTBOUND_ALLOW": f"127.0.0.1:{receiver.port}"}
    process = subprocess.Popen([sys.executable, "-c", SENDER, str(delivery.pk)], env=env)
    wait_until(lambda: receiver.got)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    answers.set()

    assert not deliver(delivery.pk, by="watch")  # its lease still lasts
    Delivery.objects.update(lease_until=timezone.now())
    assert deliver(delivery.pk, by="watch")
    assert receiver.ids() == [delivery.webhook_id] * 2
    assert Delivery.objects.get().state == "delivered"
