"""The rules that a flow begins with, and their change."""

import pytest

from parking import alarms
from parking.alarms.rules import change_rule
from parking.errors import Refused
from parking.models import AlarmRule, Incident, JournalEntry, Team
from tests.alarm_story import OWNER, make_flow, rule, stop, told

pytestmark = pytest.mark.django_db


def change(made, **given):
    before = {
        name: getattr(made, name)
        for name in ("threshold", "for_seconds", "resolve_at", "resolve_for_seconds", "severity", "enabled")
    }
    return change_rule(rule_id=made.pk, actor=OWNER, **({"reason": "quieter"} | before | given))


def test_a_flow_begins_with_depth_and_age_and_its_team_with_one_for_intake(flow):
    other = make_flow("returns")
    for one in (flow, other, flow):
        alarms.ensure_rules(flow=one, actor=OWNER)
    measures = [(one.flow_id, one.measure) for one in AlarmRule.objects.order_by("pk")]
    assert sorted(measures, key=str) == sorted(
        [(flow.pk, "depth"), (flow.pk, "age"), (None, "stale"), (other.pk, "depth"), (other.pk, "age")], key=str
    )


def test_what_an_owner_changed_is_left_as_it_is(flow):
    alarms.ensure_rules(flow=flow, actor=OWNER)
    change(AlarmRule.objects.get(measure="depth"), threshold=7, resolve_at=2, enabled=False)
    alarms.ensure_rules(flow=flow, actor=OWNER)
    depth = AlarmRule.objects.get(measure="depth")
    assert (depth.threshold, depth.enabled) == (7, False)


def test_the_rules_follow_a_flow_to_its_new_team(flow):
    alarms.ensure_rules(flow=flow, actor=OWNER)
    flow.team = Team.objects.create(name="New owners")
    flow.save()
    rules = alarms.ensure_rules(flow=flow, actor=OWNER)
    assert {one.team.name for one in rules} == {"New owners"}
    assert {one.measure for one in rules} == {"depth", "age", "stale"}


def test_a_change_is_journalled_with_what_was_and_what_is(flow):
    change(rule(flow), threshold=10)
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.flow, entry.reason) == ("change alarm rule", flow, "quieter")
    assert entry.detail["changed"] == {"threshold": [3, 10]}


def test_a_rule_that_is_switched_off_resolves_aloud_what_it_had_open_and_looks_no_more(flow, lot, pager, alive):
    made = rule(flow)
    stop(lot, waiting=5)
    alarms.evaluate()
    change(made, enabled=False)
    incident = Incident.objects.get()
    assert told(incident) == [("pager", "opened"), ("pager", "resolved")]
    assert incident.resolution == "its alarm rule was switched off"
    assert alarms.evaluate() == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold": 5, "resolve_at": 5}, "smaller number"),
        ({"threshold": -1}, "from 0 to"),
        ({"for_seconds": 2**31}, "from 0 to"),
        ({"severity": "panic"}, "critical or warning"),
        ({"reason": ""}, "reason is needed"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused_and_change_nothing(flow, given, words):
    made = rule(flow)
    with pytest.raises(Refused, match=words):
        change(made, **given)
    assert AlarmRule.objects.get().threshold == 3
    assert not JournalEntry.objects.exists()


def test_two_rules_of_one_measure_differ_in_severity(flow):
    rule(flow)
    warning = rule(flow, threshold=2, severity="warning")
    with pytest.raises(Refused, match="critical rule for the depth"):
        change(warning, severity="critical")
