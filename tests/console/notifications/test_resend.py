"""A person sends again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from console.notifications.deliver import claim, deliver
from console.notifications.resend import resend
from parking import alarms
from parking.errors import Conflict, Refused
from parking.models import Delivery, JournalEntry
from tests.alarm_story import OWNER

pytestmark = pytest.mark.django_db


def test_what_failed_is_sent_again_under_its_id_with_a_new_budget(incident, receiver):
    receiver.answers = [400, 204]
    delivery = Delivery.objects.get()
    deliver(delivery.pk, by="watch")
    Delivery.objects.update(give_up_at=timezone.now() - timedelta(days=1))

    resend(delivery_id=delivery.pk, actor=OWNER, reason="the routing key is right now")

    assert deliver(delivery.pk, by="watch")
    delivery.refresh_from_db()
    assert delivery.state == "delivered"
    assert delivery.give_up_at > timezone.now()
    assert len(set(receiver.ids())) == 1
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.actor_name, entry.reason, entry.flow) == (
        "send again", "Owner Seven", "the routing key is right now", incident.flow,
    )  # fmt: skip


def test_an_opening_that_is_sent_again_is_followed_by_its_resolution(incident, receiver):
    alarms.close_incident(kind="gap", flow=incident.flow, key="orders.parking/3", reason="over")
    opened, resolved = Delivery.objects.order_by("pk")
    for one in (opened, resolved):
        deliver(one.pk, by="watch")

    again = resend(delivery_id=opened.pk, actor=OWNER, reason="lost there")

    assert [one.transition for one in again] == ["opened", "resolved"]
    for one in again:
        assert deliver(one.pk, by="watch")
    assert receiver.ids() == [opened.webhook_id, resolved.webhook_id] * 2


def test_not_while_it_is_being_sent_and_not_without_a_reason(incident):
    delivery = Delivery.objects.get()
    with pytest.raises(Refused, match="reason is needed"):
        resend(delivery_id=delivery.pk, actor=OWNER, reason="")
    claim(delivery.pk)
    with pytest.raises(Conflict, match="being sent at this moment"):
        resend(delivery_id=delivery.pk, actor=OWNER, reason="hurry")
    assert Delivery.objects.get().state == "sending"
