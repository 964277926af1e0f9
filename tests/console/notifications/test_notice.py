"""What a hook is told: within the bounds of receivers, and never anything of an event."""

import unicodedata

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.notifications import notice
from parking import alarms
from parking.alarms.acknowledge import acknowledge
from parking.models import Delivery, Incident
from tests.alarm_story import OWNER, Lot, hook, intake_lives, make_flow, rule, stop

MARKER = "SECRET-PAYLOAD"
FAMILY = "👨‍👩‍👧‍👦"


@given(st.text(), st.integers(2, 40))
def test_cut_keeps_what_fits_and_never_more(text, longest):
    got = notice.cut(text, longest)
    assert len(got) <= longest
    assert got == text or got.endswith("…")
    assert text.startswith(got.removesuffix("…"))


@pytest.mark.parametrize("seen", [FAMILY, "e\u0301", "ก\u0e31\u0e49"])
def test_cut_never_inside_what_is_seen_as_one_character(seen):
    for longest in range(2, 60):
        kept = notice.cut(seen * 40, longest).removesuffix("…")
        assert kept == seen * (len(kept) // len(seen)), unicodedata.name(kept[-1])


def told(incident):
    delivery = Delivery.objects.select_related("hook__team", "incident__team", "incident__flow").get(incident=incident)
    return orjson.loads(notice.of(delivery).body()), notice.of(delivery).body()


@pytest.mark.django_db
def test_alm_05_limits_hold_for_the_longest_of_everything():
    flow = make_flow("f" * 100, source_topic="t" * 249, runbook="https://runbooks.example/" + "r" * 170)
    hook(flow.team)
    incident = alarms.open_incident(
        kind="gap", flow=flow, key="k" * 5000, summary=FAMILY * 5000, detail={str(n): "ü" * 9999 for n in range(500)}
    )
    Incident.objects.update(summary="x" + FAMILY * 2000)
    got, body = told(incident)
    assert 1000 < len(got["data"]["summary"]) <= 1024
    assert got["data"]["summary"].removesuffix("…").endswith(FAMILY)
    assert len(body) < 128 * 1024


@pytest.mark.django_db
def test_nothing_of_an_event_leaves_in_a_notification():
    flow = make_flow("orders")
    hook(flow.team)
    rule(flow), rule(flow, "age", threshold=30)
    lot = Lot(flow)
    intake_lives()
    key = stop(lot, waiting=3)
    type(key).objects.update(first_error=f"InvalidDecision: {MARKER} in the message")
    alarms.evaluate()
    for incident in Incident.objects.all():
        got, body = told(incident)
        assert got["data"]["detail"]["error_type"] == "InvalidDecision"
        assert MARKER.encode() not in body
        assert b"acc-" not in body


@pytest.mark.django_db
def test_what_a_person_typed_stays_inside():
    flow = make_flow("orders")
    hook(flow.team)
    incident = alarms.open_incident(kind="gap", flow=flow, key="", summary="gone")
    acknowledge(incident_id=incident.pk, actor=OWNER, reason=f"it is {MARKER}")
    second = Delivery.objects.select_related("hook__team", "incident__team", "incident__flow").get(
        transition="acknowledged"
    )
    got = orjson.loads(notice.of(second).body())
    assert (got["data"]["acknowledged_by"], got["data"]["state"]) == ("Owner Seven", "acknowledged")
    assert MARKER not in str(got)


@pytest.mark.django_db
def test_the_same_delivery_says_the_same_whatever_happened_since():
    flow = make_flow("orders")
    hook(flow.team)
    incident = alarms.open_incident(kind="gap", flow=flow, key="", summary="gone")
    _, before = told(incident)
    alarms.close_incident(kind="gap", flow=flow, key="", reason="over")
    opened = Delivery.objects.select_related("hook__team", "incident__team", "incident__flow").get(transition="opened")
    assert notice.of(opened).body() == before
    assert orjson.loads(before)["data"]["dedup_key"] == incident.dedup_key
