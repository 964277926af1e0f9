"""Alarms as watch evaluates them, on events that intake stored."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from parking import alarms
from parking.alarms import readings
from parking.models import Beat, Incident, Quarantine
from tests.alarm_story import intake_lives, rule, settle, stop, told, transitions

pytestmark = pytest.mark.django_db


def value_of(made):
    return readings.read(made, timezone.now(), readings.last_beat()).value


def test_depth_counts_poison_and_held_and_the_incident_says_whose_it_is(flow, lot, pager, alive):
    rule(flow, threshold=5)
    stop(lot, waiting=2)
    assert alarms.evaluate() == 0
    oldest = stop(lot, waiting=3, ago=7200)

    assert alarms.evaluate() == 1

    incident = Incident.objects.get()
    assert (incident.kind, incident.state, incident.severity) == ("depth", "firing", "critical")
    assert (incident.flow, incident.team, incident.runbook) == (flow, flow.team, flow.runbook)
    assert incident.summary == "orders: 5 events wait, poison and held (alarm from 5 on; topic orders)"
    assert incident.detail["oldest_key"] == oldest.pk
    assert told(incident) == [("pager", "opened")]


def test_one_breach_is_one_incident_and_one_notification_however_often_it_is_looked_at(flow, lot, pager, alive):
    rule(flow)
    stop(lot, waiting=4)
    for _ in range(5):
        alarms.evaluate()
    assert transitions() == ["opened"]


def test_alm_13_depth_falls_when_events_are_settled_and_the_resolution_is_told(flow, lot, pager, alive):
    rule(flow, resolve_at=0)
    key = stop(lot, waiting=3)
    alarms.evaluate()
    settle(lot, key, "applied", "applied", "skipped")

    alarms.evaluate()

    incident = Incident.objects.get()
    assert incident.state == "resolved"
    assert incident.resolution == "0 events wait; over at 0 or fewer"
    assert told(incident) == [("pager", "opened"), ("pager", "resolved")]


def test_a_second_breach_is_a_new_incident_of_the_same_alarm(flow, lot, pager, alive):
    made = rule(flow, resolve_at=0)
    for _ in range(2):
        key = stop(lot, waiting=3)
        alarms.evaluate()
        settle(lot, key, "applied", "applied", "applied")
        alarms.evaluate()
    keys = [incident.dedup_key for incident in Incident.objects.order_by("pk")]
    assert keys == [f"rule/{made.pk}#1", f"rule/{made.pk}#2"]
    assert transitions() == ["opened", "resolved"] * 2


def test_alm_04_age_counts_from_when_it_was_parked_and_the_three_times_are_kept_apart(flow, lot, pager, alive):
    rule(flow, "age", threshold=3600, resolve_at=600)
    stop(lot, ago=3000)
    assert alarms.evaluate() == 0
    key = stop(lot, ago=4000)
    event = key.events.get()
    assert key.oldest_at
    # it occurred a week before it was parked, and intake has stored it just now
    occurred = event.event.parked_at - timedelta(days=7)
    type(event.event).objects.filter(pk=event.pk).update(source_at=occurred)

    assert alarms.evaluate() == 1

    detail = Incident.objects.get().detail
    assert 3990 <= detail["value"] <= 4100
    assert detail["occurred_at"] == occurred.isoformat()
    assert detail["parked_at"] == key.oldest_at.isoformat()
    assert detail["stored_at"] == event.stored_at.isoformat()


def test_a_parking_time_in_the_future_does_not_hide_an_event(flow, lot, alive):
    made = rule(flow, "age", threshold=3600)
    key = stop(lot, ago=-3600)
    long_ago = timezone.now() - timedelta(hours=2)
    key.events.update(stored_at=long_ago)
    assert value_of(made) >= 7200


def test_alm_02_while_intake_is_dead_nothing_resolves_and_its_silence_is_an_alarm_of_its_own(flow, lot, pager):
    rule(flow, resolve_at=0)
    rule(flow, "stale", threshold=120, resolve_at=30)
    key = stop(lot, waiting=3)
    intake_lives(seconds_ago=10)
    alarms.evaluate()
    settle(lot, key, "applied", "applied", "applied")
    intake_lives(seconds_ago=300)

    alarms.evaluate()

    depth, stale = Incident.objects.order_by("pk")
    assert (depth.state, stale.kind, stale.flow, stale.team) == ("firing", "stale", None, flow.team)
    assert told(stale) == [("pager", "opened")]

    intake_lives()
    alarms.evaluate()
    assert list(Incident.objects.order_by("pk").values_list("state", flat=True)) == ["resolved", "resolved"]
    assert told(stale) == [("pager", "opened"), ("pager", "resolved")]


def test_an_intake_that_never_lived_is_stale_too(flow, pager):
    made = rule(flow, "stale", threshold=120, resolve_at=30)
    type(made).objects.update(created_at=timezone.now() - timedelta(seconds=60))
    assert alarms.evaluate() == 0
    type(made).objects.update(created_at=timezone.now() - timedelta(seconds=121))
    assert alarms.evaluate() == 1


def test_the_latest_beat_of_any_intake_counts(flow):
    intake_lives(seconds_ago=900)
    Beat.objects.create(process="intake", host="there", pid=2, at=timezone.now())
    Beat.objects.create(process="watch", host="there", pid=3, at=timezone.now() + timedelta(hours=1))
    last = readings.last_beat()
    assert last
    assert timezone.now() - last < timedelta(seconds=60)


def test_the_clock_of_a_breach_survives_a_restart(flow, lot, alive):
    made = rule(flow, for_seconds=60)
    stop(lot, waiting=3)
    assert alarms.evaluate() == 0
    made.refresh_from_db()
    assert made.breached_since is not None
    type(made).objects.update(breached_since=timezone.now() - timedelta(seconds=61))
    assert alarms.evaluate() == 1
    assert Incident.objects.get().breached_at < Incident.objects.get().opened_at


def test_an_unreleased_key_without_unsettled_events_has_neither_depth_nor_age(flow, lot, alive):
    depth, age = rule(flow), rule(flow, "age")
    key = stop(lot, waiting=2, ago=90_000)
    settle(lot, key, "applied", "applied")
    assert Quarantine.objects.get().state != "released"
    assert [value_of(one) for one in (depth, age)] == [0, 0]


def test_the_depth_of_one_flow_is_not_that_of_another(flow, lot, alive):
    from tests.alarm_story import Lot, make_flow

    made = rule(flow)
    stop(Lot(make_flow("returns")), waiting=9)
    assert value_of(made) == 0


def test_a_quiet_look_writes_nothing_and_asks_no_more_however_many_keys_have_stopped(flow, lot, alive):
    rule(flow, threshold=1000), rule(flow, "age", threshold=90_000)
    stop(lot)
    with CaptureQueriesContext(connection) as few:
        alarms.evaluate()
    for _ in range(12):
        stop(lot)
    with CaptureQueriesContext(connection) as many:
        alarms.evaluate()
    assert len(many) == len(few)
    assert not [one["sql"] for one in many if one["sql"].startswith(("UPDATE", "INSERT"))]
    assert not [one["sql"] for one in many if "parking_eventstate" in one["sql"] or "GROUP BY" in one["sql"]]


def test_depth_walks_a_bounded_number_of_keys_and_still_decides_rightly(flow, lot, alive, monkeypatch):
    monkeypatch.setattr(readings, "WALKED", 2)
    made = rule(flow, threshold=4)
    for waiting in (1, 1, 1, 2):
        stop(lot, waiting=waiting)
    assert value_of(made) == 5
    type(made).objects.update(threshold=2, resolve_at=0)
    made.refresh_from_db()
    assert value_of(made) >= 2
