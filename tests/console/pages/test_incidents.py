"""Incidents: what fires, the timeline with who was told, and what can be done about it."""

import html
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from console.models import Grant
from parking.models import Delivery, Incident, JournalEntry, Silence
from tests import alarm_story
from tests.console import story


@pytest.fixture
def incident(scene):
    alarm_story.hook(scene.disputes.team, "https://pager.example/s3cret-path", name="pager")
    alarm_story.hook(scene.disputes.team, "lead@team.example", name="team lead", fallback=True)
    return alarm_story.incident(scene.disputes, summary="disputes: 3 records are gone")


def page(scene, incident, who="oncall") -> str:
    response = scene.client(getattr(scene, who)).get(f"/incidents/{incident.pk}")
    return html.unescape(response.content.decode())


def act(scene, incident, what, who="oncall", **given):
    return scene.client(getattr(scene, who)).post(f"/incidents/{incident.pk}/{what}", given)


def test_the_list_has_firing_acknowledged_and_resolved(scene, incident):
    client = scene.client(scene.oncall)
    assert "nobody is on it yet" in client.get("/incidents").content.decode()
    act(scene, incident, "acknowledge")
    body = client.get("/incidents").content.decode()
    assert "Nothing is firing" in body
    assert 'id="acknowledged"' in body
    act(scene, incident, "resolve", reason="read them again")
    body = client.get("/incidents").content.decode()
    assert "read them again" in body
    assert 'id="acknowledged"' not in body


def test_the_timeline_tells_who_was_told_and_how_they_answered(scene, incident):
    answers = [{"at": "2026-01-01T00:00:00", "by": "notifier", "status": 204, "answer": "HTTP 204"}]
    sent = Delivery.objects.filter(incident=incident, hook__name="pager")
    sent.update(state="delivered", delivered_at=timezone.now(), tries=1, answers=answers)
    act(scene, incident, "acknowledge", reason="on my way")
    body = page(scene, incident)
    assert body.index("it began to fire") < body.index("<strong>pager</strong> (webhook): delivered")
    assert "HTTP 204" in body
    assert "on-call engineer" in body
    assert "“<bdi" in body
    assert "on my way" in body


@pytest.mark.parametrize("who", ["oncall", "reviewer", "owner", "viewer"])
def test_the_address_of_a_hook_is_on_no_page_of_incidents(scene, incident, who):
    Delivery.objects.filter(incident=incident).update(state="failed")
    client = scene.client(getattr(scene, who))
    for address in ("/incidents", f"/incidents/{incident.pk}", "/status"):
        assert "s3cret-path" not in client.get(address).content.decode()


def test_acknowledging_says_who_and_a_second_time_says_who_was_faster(scene, incident):
    assert act(scene, incident, "acknowledge").status_code == 302
    incident.refresh_from_db()
    assert incident.acknowledged_by_name == "on-call engineer"
    late = act(scene, incident, "acknowledge", who="reviewer")
    assert late.status_code == 409
    assert "on-call engineer acknowledged it" in late.content.decode()


def test_who_was_faster_is_told_in_the_viewers_zone_which_is_named(scene, incident):
    act(scene, incident, "acknowledge")
    client = scene.client(scene.owner)
    client.cookies["zone"] = "Asia/Tokyo"
    answer = client.post(f"/incidents/{incident.pk}/acknowledge", follow=True)
    incident.refresh_from_db()
    at = timezone.localtime(incident.acknowledged_at, ZoneInfo("Asia/Tokyo"))
    assert f"acknowledged it at {at:%Y-%m-%d %H:%M:%S} Asia/Tokyo" in html.unescape(answer.content.decode())


def test_silence_lasts_as_chosen_and_can_be_ended(scene, incident):
    act(scene, incident, "silence", hours="4", reason="we are at it")
    silence = Silence.objects.get(alarm=incident.alarm)
    assert 3.9 < (silence.until - timezone.now()).total_seconds() / 3600 < 4.1
    assert "Silent for another" in page(scene, incident)
    act(scene, incident, "end-silence", reason="done")
    assert "Silent for another" not in page(scene, incident)


@pytest.mark.parametrize("hours", ["", "0", "-1", "1e9", "999999", "\x00"])
def test_an_impossible_silence_is_refused(scene, incident, hours):
    assert act(scene, incident, "silence", hours=hours, reason="x").status_code == 422
    assert not Silence.objects.exists()


def test_escalating_tells_the_fallback_hooks(scene, incident):
    assert "Escalate to 1 hook" in page(scene, incident)
    act(scene, incident, "escalate", reason="nobody answers")
    assert ("team lead", "opened") in alarm_story.told(incident)
    body = page(scene, incident)
    assert "escalated to the fallback hooks" in body
    assert "nobody answers" in body


def test_a_refusal_keeps_what_was_typed(scene, incident):
    refused = act(scene, incident, "resolve", reason="  ")
    assert refused.status_code == 422
    assert "A reason is needed" in refused.content.decode()
    kept = act(scene, incident, "resolve", reason="x" * 2001)
    assert "x" * 2001 in kept.content.decode()
    incident.refresh_from_db()
    assert incident.state == Incident.State.FIRING


@pytest.mark.parametrize("what", ["acknowledge", "silence", "end-silence", "escalate", "resolve"])
def test_who_only_looks_cannot_act(scene, incident, what):
    assert act(scene, incident, what, who="viewer", reason="x", hours="1").status_code == 403
    assert "Acknowledge: I am on it" not in page(scene, incident, "viewer")
    incident.refresh_from_db()
    assert incident.state == Incident.State.FIRING


def test_what_failed_is_shown_with_the_reason_and_sent_again(scene, incident):
    answers = [{"at": "2026-01-01T00:00:00", "by": "watch", "status": 500, "answer": "HTTP 500 <b>no</b>"}]
    Delivery.objects.filter(incident=incident, hook__name="pager").update(state="failed", tries=9, answers=answers)
    failed = Delivery.objects.get(incident=incident, hook__name="pager")
    client = scene.client(scene.oncall)
    body = client.get("/incidents").content.decode()
    assert "HTTP 500 &lt;b&gt;no&lt;/b&gt;" in body
    assert client.post(f"/deliveries/{failed.pk}/again", {"reason": ""}, follow=True).status_code == 200
    assert Delivery.objects.get(pk=failed.pk).state == "failed"
    back = client.post(f"/deliveries/{failed.pk}/again", {"reason": "it is up again", "next": "//evil.example"})
    assert back.headers["Location"] == "/incidents"
    assert Delivery.objects.get(pk=failed.pk).state == "pending"
    assert JournalEntry.objects.filter(verb="send again").exists()
    assert scene.client(scene.viewer).post(f"/deliveries/{failed.pk}/again", {"reason": "x"}).status_code == 403


def test_a_hook_of_the_team_does_not_tell_of_flows_that_the_viewer_has_no_role_in(scene, incident):
    hidden = story.make_flow("hidden-flow")  # of the same team
    told = alarm_story.incident(hidden, summary="hidden-flow: something is wrong")
    Delivery.objects.filter(incident=told).update(state="failed")
    client = scene.client(scene.oncall)
    for address in ("/incidents", "/status", "/"):
        assert "hidden-flow" not in client.get(address).content.decode()
    one = Delivery.objects.filter(incident=told).latest("pk")
    assert client.post(f"/deliveries/{one.pk}/again", {"reason": "x"}).status_code == 404


def test_what_concerns_a_whole_team_is_seen_and_acted_on_with_a_role_in_one_flow(scene):
    stale = alarm_story.rule(scene.disputes, "stale", threshold=120)
    of_team = Incident.objects.create(
        alarm=stale.alarm, sequence=1, rule=stale, team=scene.disputes.team, kind="stale", severity="critical",
        summary="intake is silent", breached_at=timezone.now(), opened_at=timezone.now(),
    )  # fmt: skip
    assert "intake is silent" in page(scene, of_team, "viewer")
    assert act(scene, of_team, "acknowledge", who="viewer").status_code == 403
    assert scene.client(scene.stranger).get(f"/incidents/{of_team.pk}").status_code == 404
    assert act(scene, of_team, "acknowledge").status_code == 302
    Grant.objects.filter(user=scene.oncall).delete()
    assert scene.client(scene.oncall).get(f"/incidents/{of_team.pk}").status_code == 404


def test_resolved_ones_come_in_pages_without_a_gap_or_a_repeat(scene, monkeypatch):
    monkeypatch.setattr("console.pages.incidents.PAGE", 2)
    for number in range(5):
        one = alarm_story.incident(scene.disputes, key=f"k{number}", summary=f"number {number} here")
        act(scene, one, "resolve", reason=f"over {number}!")
    client, address, seen = scene.client(scene.oncall), "/incidents", []
    while address:
        page_of = client.get(address)
        seen += [one.pk for one in page_of.context["resolved"]]
        address = f"/incidents?after={page_of.context['more']}" if page_of.context["more"] else ""
    assert len(seen) == len(set(seen)) == 5
    assert client.get("/incidents?after=%00'x").status_code == 200
