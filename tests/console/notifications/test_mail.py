"""E-mail to a real mail server: what arrives, and what its refusals mean."""

from datetime import timedelta
from email import message_from_bytes, policy

import pytest
from django.utils import timezone

from console.notifications.deliver import deliver
from parking import alarms
from parking.models import Delivery
from tests.alarm_story import hook, make_flow

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident(mail_server):
    flow = make_flow("orders")
    hook(flow.team, "on-call@team.example", name="mailbox")
    return alarms.open_incident(
        kind="gap",
        flow=flow,
        key="orders.parking/3",
        summary="orders: größere Lücke\r\nBcc: x@evil.example",
        detail={"a": 1},
    )


def try_now(transition="opened"):
    Delivery.objects.filter(state="pending").update(due_at=timezone.now() - timedelta(seconds=1))
    delivery = Delivery.objects.get(transition=transition)
    assert deliver(delivery.pk, by="notifier")
    delivery.refresh_from_db()
    return delivery


def test_what_arrives_names_the_incident_and_the_resolution_answers_it(incident, mail_server):
    assert try_now().state == "delivered"
    alarms.close_incident(kind="gap", flow=incident.flow, key="orders.parking/3", reason="over")
    assert try_now("resolved").state == "delivered"

    opened, resolved = (message_from_bytes(one, policy=policy.default) for one in mail_server.got)
    assert opened["to"] == "on-call@team.example"
    assert opened["from"] == "siding@console.example"
    assert opened["subject"].strip() == "[development] [critical] orders: größere Lücke Bcc: x@evil.example"
    assert opened["bcc"] is None
    assert opened["auto-submitted"] == "auto-generated"
    text = opened.get_content()
    assert f"/incidents/{incident.pk}" in text
    assert "runbook: https://runbooks.example/orders" in text
    assert f"dedup key: {incident.dedup_key}" in text
    assert resolved["subject"].strip().startswith("[development] [resolved] ")
    assert resolved["in-reply-to"] == opened["message-id"]


def test_a_second_try_bears_the_same_message_id(incident, mail_server):
    try_now()
    Delivery.objects.update(state="pending", delivered_at=None)
    try_now()
    first, second = (message_from_bytes(one) for one in mail_server.got)
    assert first["message-id"] == second["message-id"] == f"<{Delivery.objects.get().webhook_id}@console.example>"


def test_a_recipient_that_does_not_exist_is_for_good(incident, mail_server):
    mail_server.answers = ["550 no such user"]
    delivery = try_now()
    assert (delivery.state, delivery.answers[0]["status"]) == ("failed", 550)
    assert mail_server.got == []


def test_a_full_mailbox_is_tried_again(incident, mail_server):
    mail_server.answers = ["452 mailbox full", "250 OK"]
    assert try_now().state == "pending"
    assert try_now().state == "delivered"
    assert len(mail_server.got) == 1


def test_a_mail_server_that_is_not_there_is_tried_again_and_says_where_to_look(incident, settings):
    settings.EMAIL_PORT = 9
    delivery = try_now()
    assert delivery.state == "pending"
    assert "SIDING_SMTP_URL" in delivery.answer


def test_a_password_that_the_server_does_not_take_is_the_operators_to_mend(incident, settings):
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "siding", "wrong"
    delivery = try_now()
    assert delivery.state == "pending"
    assert "wrong" not in str(delivery.answers)
