"""A flow's page: everybody of the flow reads it; an owner changes alarms, hooks and retention with a reason."""

import html

import pytest

from console.notifications import signing
from parking import alarms
from parking.models import AlarmRule, Delivery, Flow, Hook, JournalEntry
from tests import alarm_story


@pytest.fixture
def flow(scene):
    alarms.ensure_rules(flow=scene.disputes, actor=alarm_story.OWNER)
    alarm_story.hook(scene.disputes.team, "https://pager.example/s3cret-path", name="pager")
    return scene.disputes


def page(scene, who="owner", address="/flows/disputes") -> str:
    return html.unescape(scene.client(getattr(scene, who)).get(address).content.decode())


def post(scene, where, who="owner", **given):
    return scene.client(getattr(scene, who)).post(where, {"flow": "disputes", "reason": "because", **given})


RULE = {
    "threshold": "7",
    "for_seconds": "5",
    "resolve_at": "2",
    "resolve_for_seconds": "9",
    "severity": "warning",
    "enabled": "on",
}


def rule(flow, measure="depth") -> AlarmRule:
    return AlarmRule.objects.get(flow=flow, measure=measure)


def test_the_list_has_the_flows_of_the_viewer(scene):
    body = page(scene, "viewer", "/flows")
    assert "disputes-service" in body
    assert "crm-sync" not in body


def test_the_page_says_what_the_flow_is(scene, flow):
    body = page(scene, "viewer")
    for said in (
        "Payments team",
        "disputes.parking",
        "dispute-decision 14",
        "order per key",
        "scrubbed 30 days after settling",
        "Rings from <strong>100 events</strong> on",
        "now 7 events",
        "never told of anything yet",
        "on-call engineer</dt><dd>operator",
    ):
        assert said in body, said


@pytest.mark.parametrize("who", ["viewer", "oncall", "reviewer"])
def test_addresses_secrets_and_forms_are_for_owners(scene, flow, who):
    secret = signing.secret(Hook.objects.get(name="pager"))
    body = page(scene, who)
    assert "s3cret-path" not in body
    assert secret not in body
    assert "<form" not in body.partition("<main")[2].partition("</main>")[0]
    assert "kafka" not in body.lower().partition("<main")[2].partition("bootstrap")[2]
    shown = page(scene)
    assert "s3cret-path" in shown
    assert secret in shown


@pytest.mark.parametrize(
    "address", ["/rules/{rule}", "/flows/disputes/retention", "/flows/disputes/hooks", "/hooks/{hook}",
                "/hooks/{hook}/secret", "/hooks/{hook}/test"],
)  # fmt: skip
@pytest.mark.parametrize("who", ["viewer", "oncall", "reviewer"])
def test_who_does_not_own_it_changes_nothing(scene, flow, address, who):
    where = address.format(rule=rule(flow).pk, hook=Hook.objects.get(name="pager").pk)
    assert post(scene, where, who, **RULE).status_code == 403
    assert not Delivery.objects.exists()
    assert not JournalEntry.objects.filter(actor_id__startswith="user:").exclude(actor_id="user:7").exists()


def test_an_alarm_is_changed(scene, flow):
    assert post(scene, f"/rules/{rule(flow).pk}", **RULE).status_code == 302
    changed = rule(flow)
    assert (changed.threshold, changed.for_seconds, changed.resolve_at, changed.resolve_for_seconds) == (7, 5, 2, 9)
    assert (changed.severity, changed.enabled) == ("warning", True)
    post(scene, f"/rules/{changed.pk}", **{**RULE, "enabled": ""} | {"threshold": "8"})
    assert "changed" in page(scene, address="/journal")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"threshold": "x<b>"}, "a whole number was expected"),
        ({"threshold": "-1"}, "a whole number was expected"),
        ({"threshold": "9" * 30}, "a whole number was expected"),
        ({"threshold": "99999999999"}, "from 0 to"),
        ({"resolve_at": "7"}, "smaller number than the threshold"),
        ({"severity": "grave"}, "was expected"),
        ({"reason": ""}, "A reason is needed"),
    ],
)
def test_an_impossible_alarm_is_refused_and_what_was_typed_stays(scene, flow, given, said):
    response = post(scene, f"/rules/{rule(flow).pk}", **{**RULE, "for_seconds": "4711", **given})
    body = response.content.decode()
    assert response.status_code == 422
    assert said in html.unescape(body)
    assert 'value="4711"' in body
    assert "<b>" not in body
    assert rule(flow).threshold == 100


def test_the_retention_is_changed(scene, flow):
    assert post(scene, "/flows/disputes/retention", payload_days="10", metadata_days="90").status_code == 302
    assert Flow.objects.values_list("payload_days", "metadata_days").get(pk=flow.pk) == (10, 90)
    refused = post(scene, "/flows/disputes/retention", payload_days="90", metadata_days="10")
    assert refused.status_code == 422
    assert 'name="payload_days" inputmode="numeric" required value="90"' in refused.content.decode()


def test_a_hook_is_added_tested_changed_and_its_secret_renewed(scene, flow):
    added = post(scene, "/flows/disputes/hooks", name="mail", kind="email", address="a@team.example", hears="flow")
    assert added.status_code == 302
    mail = Hook.objects.get(name="mail")
    assert (mail.flow, mail.team) == (flow, flow.team)
    assert post(scene, f"/hooks/{mail.pk}/test").status_code == 302
    assert Delivery.objects.get(hook=mail).transition == "test"
    assert "last told" in page(scene)
    post(scene, f"/hooks/{mail.pk}", name="mail 2", address="b@team.example", fallback="on")
    mail.refresh_from_db()
    assert (mail.name, mail.address, mail.fallback, mail.enabled) == ("mail 2", "b@team.example", True, False)
    pager = Hook.objects.get(name="pager")
    post(scene, f"/hooks/{pager.pk}/secret")
    assert Hook.objects.get(name="pager").secret_version == pager.secret_version + 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "http://127.0.0.1/x"}, "Not changed"),
        ({"kind": "pigeon"}, "was expected"),
        ({"name": "\0"}, "A name of 1 to 100"),
        ({"name": "pager", "kind": "email", "address": "a@b.example", "hears": "team"}, "already"),
    ],
)
def test_an_impossible_hook_is_refused(scene, flow, given, said):
    before = Hook.objects.count()
    typed = {"name": "x", "kind": "webhook", "address": "https://1.1.1.1/", **given}
    response = post(scene, "/flows/disputes/hooks", **typed)
    assert response.status_code == 422
    assert said in html.unescape(response.content.decode())
    assert Hook.objects.count() == before


def test_what_a_hook_of_the_team_told_of_another_flow_is_not_shown(scene, flow):
    hidden = alarm_story.make_flow("hidden-flow")
    Flow.objects.filter(pk=hidden.pk).update(team=flow.team)
    hidden.refresh_from_db()
    alarm_story.incident(hidden)
    assert Delivery.objects.filter(hook__name="pager").exists()
    assert "never told of anything yet" in page(scene, "viewer")
