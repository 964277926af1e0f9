"""What opens, acknowledges, silences, escalates and ends an incident, and who hears of it."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from parking import alarms
from parking.alarms.acknowledge import acknowledge
from parking.alarms.escalate import escalate
from parking.alarms.resolving import resolve_incident
from parking.alarms.silence import end_silence, silence
from parking.errors import Conflict, Refused
from parking.models import Delivery, Incident, JournalEntry, Silence, Team
from tests.alarm_story import OWNER, hook, intake_lives, make_flow, rule, settle, stop, told, transitions

pytestmark = pytest.mark.django_db


def gap(flow, key="orders.parking/3"):
    summary = f"{flow.name}: offsets 4 to 9 of {key} are gone before intake read them"
    return alarms.open_incident(kind="gap", flow=flow, key=key, summary=summary, detail={"first": 4, "last": 9})


def journal():
    return list(JournalEntry.objects.order_by("id").values_list("verb", "actor_id", "reason"))


def test_the_same_cause_opens_one_incident_and_tells_once(flow, pager):
    first, second, other = gap(flow), gap(flow), gap(flow, key="orders.parking/4")
    assert first == second != other
    assert told(first) == [("pager", "opened")]
    assert first.detail == {"first": 4, "last": 9}


def test_an_incident_lives_and_dies_with_the_transaction_that_found_it(flow, pager):
    with transaction.atomic():
        gap(flow)
        transaction.set_rollback(True)
    assert not Incident.objects.exists()
    assert not Delivery.objects.exists()


def test_what_its_finder_closes_is_resolved_aloud_and_may_come_again(flow, pager):
    first = gap(flow)
    assert alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="the topic was made anew")
    assert not alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="once more")
    second = gap(flow)
    assert told(first) == [("pager", "opened"), ("pager", "resolved")]
    assert (second.alarm, second.sequence) == (first.alarm, 2)


def test_a_long_or_hostile_key_and_summary_are_stored(flow):
    incident = gap(flow, key="\0\ud800" + "ключ" * 500)
    assert gap(flow, key="\0\ud800" + "ключ" * 500) == incident
    assert len(incident.alarm) <= 300
    assert "\n" not in alarms.open_incident(kind="gap", flow=flow, key="x", summary="two\nlines").summary


def test_only_hooks_of_the_team_that_listen_to_the_flow_hear_of_it(flow):
    returns = make_flow("returns")
    hook(flow.team, name="all flows")
    hook(flow.team, name="this flow", flow=flow)
    hook(flow.team, name="another flow", flow=returns)
    hook(flow.team, name="switched off", enabled=False)
    hook(flow.team, name="fallback", fallback=True)
    hook(Team.objects.create(name="Others"), name="another team")
    assert {name for name, _ in told(gap(flow))} == {"all flows", "this flow"}


def test_where_a_team_has_only_a_fallback_hook_that_one_is_told(flow):
    hook(flow.team, name="fallback", fallback=True)
    assert told(gap(flow)) == [("fallback", "opened")]


def test_a_hook_that_was_switched_off_since_still_hears_the_resolution_and_a_new_one_does_not(flow, pager):
    incident = gap(flow)
    type(pager).objects.update(enabled=False)
    hook(flow.team, name="new")
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    assert told(incident) == [("pager", "opened"), ("pager", "resolved")]


def test_acknowledged_once_by_name_with_a_journal_entry(flow, pager):
    incident = gap(flow)
    acknowledge(incident_id=incident.pk, actor=OWNER, reason="on it")
    incident.refresh_from_db()
    assert (incident.state, incident.acknowledged_by_name) == ("acknowledged", "Owner Seven")
    assert told(incident) == [("pager", "opened"), ("pager", "acknowledged")]
    assert journal() == [("acknowledge", "user:7", "on it")]
    with pytest.raises(Conflict, match="Owner Seven acknowledged it"):
        acknowledge(incident_id=incident.pk, actor=OWNER)
    assert transitions() == ["opened", "acknowledged"]


def test_a_person_resolves_what_no_rule_watches_and_the_acknowledged_one_too(flow, pager):
    incident = gap(flow)
    acknowledge(incident_id=incident.pk, actor=OWNER)
    with pytest.raises(Refused, match="reason is needed"):
        resolve_incident(incident_id=incident.pk, actor=OWNER, reason=" ")
    resolve_incident(incident_id=incident.pk, actor=OWNER, reason="records were produced again")
    with pytest.raises(Conflict, match="Owner Seven resolved it before"):
        resolve_incident(incident_id=incident.pk, actor=OWNER, reason="again")
    with pytest.raises(Conflict, match="resolved since"):
        acknowledge(incident_id=incident.pk, actor=OWNER)
    assert told(incident)[-1] == ("pager", "resolved")
    assert [verb for verb, _, _ in journal()] == ["acknowledge", "resolve"]


def test_what_a_rule_watches_is_not_resolved_by_hand(flow, lot, alive):
    rule(flow)
    stop(lot, waiting=3)
    alarms.evaluate()
    with pytest.raises(Refused, match="Its rule resolves it"):
        resolve_incident(incident_id=Incident.objects.get().pk, actor=OWNER, reason="enough")


def test_alm_01_a_silence_keeps_back_openings_and_never_the_resolution_of_what_rang(flow, lot, pager, alive):
    rule(flow, resolve_at=0)
    key = stop(lot, waiting=3)
    alarms.evaluate()
    incident = Incident.objects.get()
    later = timezone.now() + timedelta(hours=1)
    silence(incident_id=incident.pk, until=later, actor=OWNER, reason="known, a deployment")

    settle(lot, key, "applied", "applied", "applied")
    alarms.evaluate()

    assert told(incident) == [("pager", "opened"), ("pager", "resolved")]


def test_what_opens_under_a_silence_is_shown_and_told_when_the_silence_ends_while_it_lasts(flow, lot, pager, alive):
    made = rule(flow, resolve_at=0)
    key = stop(lot, waiting=3)
    alarms.evaluate()
    first = Incident.objects.get()
    silence(incident_id=first.pk, until=timezone.now() + timedelta(hours=1), actor=OWNER, reason="a deployment")
    settle(lot, key, "applied", "applied", "applied")
    alarms.evaluate()
    stop(lot, waiting=3)
    alarms.evaluate()
    second = Incident.objects.get(sequence=2)
    assert (second.alarm, second.announced_at, told(second)) == (made.alarm, None, [])

    Silence.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert alarms.evaluate() == 1
    assert alarms.evaluate() == 0
    assert told(second) == [("pager", "opened")]


def test_a_silence_ends_early_by_hand(flow, pager):
    first = gap(flow)
    silence(incident_id=first.pk, until=timezone.now() + timedelta(hours=1), actor=OWNER, reason="known")
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    second = gap(flow)
    assert told(second) == []
    assert end_silence(incident_id=second.pk, actor=OWNER, reason="not known after all")
    assert not end_silence(incident_id=second.pk, actor=OWNER, reason="twice")
    alarms.evaluate()
    assert told(second) == [("pager", "opened")]
    assert [verb for verb, _, _ in journal()] == ["silence", "end silence"]


@pytest.mark.parametrize("hours", [-1, 24 * 31])
def test_a_silence_is_in_the_future_and_bounded(flow, hours):
    with pytest.raises(Refused, match="at most 30 days"):
        silence(incident_id=gap(flow).pk, until=timezone.now() + timedelta(hours=hours), actor=OWNER, reason="x")


def test_what_was_never_told_is_resolved_without_a_word(flow, pager):
    first = gap(flow)
    silence(incident_id=first.pk, until=timezone.now() + timedelta(hours=1), actor=OWNER, reason="known")
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    second = gap(flow)
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    assert told(second) == []


def test_escalation_tells_the_fallback_hook_once_and_its_resolution_too(flow, pager):
    incident = gap(flow)
    with pytest.raises(Refused, match="No enabled fallback hook"):
        escalate(incident_id=incident.pk, actor=OWNER, reason="nobody answers")
    hook(flow.team, name="manager", fallback=True)
    assert [one.name for one in escalate(incident_id=incident.pk, actor=OWNER, reason="nobody answers")] == ["manager"]
    with pytest.raises(Refused, match="No enabled fallback hook"):
        escalate(incident_id=incident.pk, actor=OWNER, reason="again")
    alarms.close_incident(kind="gap", flow=flow, key="orders.parking/3", reason="over")
    assert told(incident) == [
        ("pager", "opened"), ("manager", "opened"), ("pager", "resolved"), ("manager", "resolved"),
    ]  # fmt: skip
    with pytest.raises(Refused, match="It is resolved"):
        escalate(incident_id=incident.pk, actor=OWNER, reason="late")


def test_visible_are_incidents_of_ones_flows_and_of_the_teams_that_own_them(flow):
    other = make_flow("returns", team="Others")
    mine, theirs = gap(flow), gap(other)
    intake_lives(seconds_ago=9000)
    for one in (flow, other):
        rule(one, "stale", threshold=120, resolve_at=30)
    alarms.evaluate()
    visible = Incident.objects.visible([flow.pk])
    assert mine in visible
    assert theirs not in visible
    assert [one.team for one in visible if one.flow is None] == [flow.team]


def test_firing_first_then_critical_then_the_oldest(flow):
    ages = [gap(flow, key=str(number)) for number in range(4)]
    Incident.objects.filter(pk=ages[0].pk).update(severity="warning")
    acknowledge(incident_id=ages[1].pk, actor=OWNER)
    assert [one.key for one in Incident.objects.by_trouble()] == ["2", "3", "0", "1"]
