"""Deliveries to a real receiver: what arrives, what its answers mean, and that every try bears the same id."""

import threading
import time
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from console.notifications import signing
from console.notifications.deliver import deliver
from parking.models import Delivery
from replay import http_out
from tests.alarm_story import hook, told

pytestmark = pytest.mark.django_db


def try_now():
    """Send the only delivery, due or not."""
    Delivery.objects.filter(state="pending").update(due_at=timezone.now() - timedelta(seconds=1))
    delivery = Delivery.objects.earliest("pk")
    assert deliver(delivery.pk, by="notifier")
    delivery.refresh_from_db()
    return delivery


def wait_of(delivery):
    """At least and at most, however long it took to write it down."""
    answered = datetime.fromisoformat(delivery.answers[-1]["at"])
    return (delivery.due_at - timezone.now()).total_seconds(), (delivery.due_at - answered).total_seconds()


def test_what_arrives_is_signed_and_says_what_has_happened(incident, pager, receiver):
    delivery = try_now()
    assert (delivery.state, delivery.answer) == ("delivered", "204 No Content")
    (got,) = receiver.got
    body = Webhook(signing.secret(pager)).verify(got.body, got.headers)
    assert body["type"] == "incident.opened"
    assert body["data"]["dedup_key"] == incident.dedup_key
    assert body["data"]["link"].endswith(f"/incidents/{incident.pk}")
    assert body["data"]["summary"] == "orders: offsets 4 to 9 are gone"
    assert got.headers["webhook-id"] == delivery.webhook_id
    assert got.headers["content-type"] == "application/json"


def test_alm_11_a_400_has_failed_for_good_and_is_shown(incident, receiver):
    receiver.answers = [400]
    delivery = try_now()
    assert delivery.state == "failed"
    assert delivery.answer.startswith("400 Bad Request")
    assert list(Delivery.objects.failed()) == [delivery]
    assert not deliver(delivery.pk, by="watch")
    assert len(receiver.got) == 1


def test_alm_11_a_400_goes_to_the_fallback_hook_and_the_resolution_to_both(incident, receiver, flow):
    from parking import alarms

    hook(flow.team, "https://manager.example/in", name="manager", fallback=True)
    receiver.answers = [400]
    try_now()
    assert told(incident) == [("pager", "opened"), ("manager", "opened")]
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    assert told(incident)[2:] == [("pager", "resolved"), ("manager", "resolved")]


@pytest.mark.parametrize("status", [429, 503])
def test_alm_11_retry_after_is_honoured_and_the_second_try_bears_the_same_id(incident, receiver, status):
    receiver.answers = [(status, {"Retry-After": "70"}), 200]
    delivery = try_now()
    assert delivery.state == "pending"
    least, most = wait_of(delivery)
    assert least <= 70 <= most
    assert not deliver(delivery.pk, by="watch")
    assert try_now().state == "delivered"
    assert len(set(receiver.ids())) == 1
    assert receiver.got[0].body == receiver.got[1].body
    assert [answer["status"] for answer in Delivery.objects.get().answers] == [status, 200]


def test_a_500_is_tried_again_ever_more_slowly(incident, receiver):
    receiver.answers = [500]
    waits = [wait_of(try_now()) for _ in range(4)]
    expected = [(2.5, 5), (5, 10), (10, 20), (20, 40)]
    assert all(low <= most and least <= high for (least, most), (low, high) in zip(waits, expected, strict=True))


def test_alm_11_timeouts_and_then_200(incident, receiver, monkeypatch):
    monkeypatch.setattr(http_out, "SECONDS", 0.5)
    answers = threading.Event()
    receiver.answers = [lambda to: answers.wait(60), 200]
    delivery = try_now()
    assert (delivery.state, delivery.answer) == ("pending", "no answer in time")
    answers.set()
    monkeypatch.setattr(http_out, "SECONDS", 60)
    assert try_now().state == "delivered"
    assert len(set(receiver.ids())) == 1


def test_a_receiver_that_answers_drop_by_drop_holds_nobody(incident, receiver, monkeypatch):
    monkeypatch.setattr(http_out, "SECONDS", 1.0)

    def drip(to):
        for _ in range(600):
            to.wfile.write(b"H")
            to.wfile.flush()
            time.sleep(0.1)

    receiver.answers = [drip]
    began = time.monotonic()
    assert try_now().answer == "no answer in time"
    assert time.monotonic() - began < 30


def test_a_receiver_that_is_not_there_or_hangs_up_is_tried_again(incident, pager, receiver):
    receiver.answers = [lambda to: to.connection.close()]
    assert "the connection broke" in try_now().answer
    type(pager).objects.update(address="http://127.0.0.1:9/in")
    assert try_now().state == "failed"  # not on the list of what may be reached


def test_nothing_listens(incident, pager, settings):
    settings.OUTBOUND_ALLOW = ("127.0.0.1:9",)
    type(pager).objects.update(address="http://127.0.0.1:9/in")
    delivery = try_now()
    assert delivery.state == "pending"
    assert "Connection refused" in delivery.answer


def test_a_redirect_is_not_followed(incident, receiver, make_receiver):
    elsewhere = make_receiver()
    receiver.answers = [(302, {"Location": elsewhere.url})]
    delivery = try_now()
    assert delivery.state == "failed"
    assert "redirects are not followed" in delivery.answer
    assert elsewhere.got == []


def test_what_the_receiver_says_beyond_its_status_is_not_kept(incident, receiver):
    def talk(to):
        body = b"INTERNAL-SECRET"
        to.send_response(400)
        to.send_header("content-length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)

    receiver.answers = [talk]
    assert "INTERNAL-SECRET" not in str(try_now().answers)


def test_after_the_budget_it_has_failed(incident, receiver):
    receiver.answers = [503]
    Delivery.objects.update(give_up_at=timezone.now() + timedelta(seconds=1))
    delivery = try_now()
    assert (delivery.state, delivery.answer) == ("failed", "503 Service Unavailable")


def test_the_third_try_that_fails_or_a_long_wait_tells_the_fallback_hook(incident, receiver, flow):
    hook(flow.team, "https://manager.example/in", name="manager", fallback=True)
    receiver.answers = [500]
    try_now(), try_now()
    assert told(incident) == [("pager", "opened")]
    assert try_now().state == "pending"
    assert told(incident) == [("pager", "opened"), ("manager", "opened")]


def test_a_long_wish_to_be_left_alone_tells_the_fallback_hook(incident, receiver, flow):
    hook(flow.team, "https://manager.example/in", name="manager", fallback=True)
    receiver.answers = [(429, {"Retry-After": "1800"})]
    assert try_now().state == "pending"
    assert told(incident) == [("pager", "opened"), ("manager", "opened")]
