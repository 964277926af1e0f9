"""The list of pending retries: limited to the viewer, without anything to do."""

from datetime import timedelta

import pytest
from django.utils import timezone

from parking.models import Flow, PendingRetry


def waits(flow: Flow, name: str, **changes):
    now = timezone.now()
    fields = {
        "flow": flow, "event_digest": name.encode(), "event_id": name, "dialect": "spring-retryable-topic",
        "topic": f"{flow.name}-retry-0", "partition": 0, "offset": 17, "arrived_at": now,
        "until": now + timedelta(hours=1),
        "attempts": 2, "error_type": "a.Busy", "error_message": "card 4711 is busy",
    }  # fmt: skip
    return PendingRetry.objects.create(**(fields | changes))


@pytest.fixture
def pending(scene):
    waits(scene.disputes, "order-1")
    waits(scene.disputes, "order-long-done", until=timezone.now())
    waits(scene.foreign, "order-foreign")
    return scene


def test_what_waits_is_listed_and_what_is_foreign_or_done_is_not(pending):
    page = pending.client(pending.oncall).get("/retries").content.decode()
    assert "1 event waits for another try" in page
    assert "order-1" in page
    assert "card 4711 is busy" in page
    assert "order-foreign" not in page
    assert "order-long-done" not in page
    assert "<form" not in page.partition("<main")[2].partition("</main>")[0]


def test_messages_are_masked_for_who_may_not_read_payloads(pending):
    page = pending.client(pending.viewer).get("/retries").content.decode()
    assert "a.Busy" in page
    assert "card 4711" not in page


def test_a_badge_leads_there(pending):
    page = pending.client(pending.oncall).get("/keys").content.decode()
    assert "1 pending retry<" in page


def test_one_flow_alone(pending):
    waits(pending.disputes, "order-2")
    page = pending.client(pending.oncall).get("/retries", {"flow": "crm-sync"}).content.decode()
    assert "No event waits" in page
