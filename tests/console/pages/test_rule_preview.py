"""An alarm rule's preview on the flow's page: by its values, and by others before they are saved."""

import html
import re
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from parking import alarms
from parking.models import AlarmRule
from tests import alarm_story


@pytest.fixture
def rule(scene) -> AlarmRule:
    alarms.ensure_rules(flow=scene.disputes, actor=alarm_story.OWNER)
    return AlarmRule.objects.get(flow=scene.disputes, measure="depth")


@pytest.fixture(autouse=True)
def yesterday(scene) -> None:
    """For half an hour at noon 12 more events waited."""
    noon = timezone.now().replace(hour=12, minute=0) - timedelta(days=1)
    with time_machine.travel(noon):
        key = alarm_story.stop(scene.lot, waiting=12)
    with time_machine.travel(noon + timedelta(minutes=30)):
        alarm_story.settle(scene.lot, key, *["applied"] * 12)


def get(scene, address, who="owner", **headers):
    return scene.client(getattr(scene, who)).get(address, headers=headers)


def told(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html.unescape(response.content.decode())).split())


def rule_form(response, rule) -> str:
    body: str = response.content.decode()
    return body[body.index("<form", body.index(f'id="rule-{rule.pk}"')) :].split("</form>", maxsplit=1)[0]


TYPED = "threshold=10&for_seconds=60&resolve_at=8&resolve_for_seconds=0"


def test_everybody_of_the_flow_sees_how_often_it_would_have_fired(scene, rule):
    assert "Over the last 7 days it would have fired not once" in told(get(scene, "/flows/disputes", "viewer"))
    AlarmRule.objects.filter(pk=rule.pk).update(threshold=10, resolve_at=8)
    body = told(get(scene, "/flows/disputes", "viewer"))
    assert re.search(r"it would have fired about 1 time\. \d+ \w+ \d\d:\d\d – \d+ \w+ \d\d:\d\d, up to 12 events", body)


def test_signs_of_life_are_not_kept(scene, rule):
    previews = [(one.rule.measure, one.preview is None) for one in get(scene, "/flows/disputes").context["rules"]]
    assert previews == [("age", False), ("depth", False), ("stale", True)]


def test_values_are_tried_while_they_are_typed(scene, rule):
    response = get(scene, f"/rules/{rule.pk}/preview?{TYPED}", HX_Request="true")
    assert "fired about 1 time" in told(response)
    assert b"<html" not in response.content
    rule.refresh_from_db()
    assert rule.threshold == 100


def test_without_scripts_a_button_shows_it_and_keeps_what_was_typed(scene, rule):
    form = rule_form(get(scene, "/flows/disputes"), rule)
    assert 'method="post"' in form, "a reason does not belong into an address"
    assert f'<button class="button" formaction="/rules/{rule.pk}/preview#rule-{rule.pk}" formnovalidate>' in form
    typed_in = {"threshold": 10, "for_seconds": 60, "resolve_at": 8, "resolve_for_seconds": 0, "severity": "warning"}
    client = scene.client(scene.owner)
    response = client.post(f"/rules/{rule.pk}/preview", typed_in | {"reason": "too late"})
    body = html.unescape(response.content.decode())
    assert "about 1 time" in body
    assert f'<details id="rule-{rule.pk}" open>' in body
    for typed in ('name="threshold" inputmode="numeric" required value="10"', 'value="too late"'):
        assert typed in body
    assert re.search(r'<option value="warning" selected>', body)
    assert "Not changed" not in body
    rule.refresh_from_db()
    assert rule.threshold == 100


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("threshold=", "threshold: a whole number was expected"),
        ("threshold=-1", "a whole number was expected"),
        ("threshold=5&resolve_at=5", "resolve at must be a smaller number"),
        ("threshold=99999999999", "a number from 0 to"),
        ("threshold=%00", "a whole number was expected"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"HX_Request": "true"}])
def test_what_makes_no_sense_says_why(scene, rule, query, why, headers):
    response = get(scene, f"/rules/{rule.pk}/preview?{query}", **headers)
    assert response.status_code == 200
    assert why in told(response)


def test_a_team_s_rule_has_none(scene, rule):
    stale = AlarmRule.objects.get(team=scene.disputes.team, measure="stale")
    assert get(scene, f"/rules/{stale.pk}/preview").status_code == 404
