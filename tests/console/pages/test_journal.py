"""The journal page: of the viewer's flows, filtered by the address, without gaps."""

import html

import pytest
from django.db import transaction

from parking import journal
from parking.actor import Actor
from parking.models import JournalEntry
from tests import alarm_story
from tests.console import story


def page(scene, who="oncall", **query) -> str:
    response = scene.client(getattr(scene, who)).get("/journal", query)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def write(verb="decide", who="user:999999999", name="Somebody Else", **given) -> JournalEntry:
    with transaction.atomic():
        return journal.write(actor=Actor(who, name), verb=verb, **given)


def test_it_tells_who_did_what_why_and_leads_there(scene):
    scene.decide_all()
    replay = scene.request()
    body = page(scene)
    assert "asked for the replay" in body
    assert "decided <strong>skip</strong>" in body
    assert "LimitChanged" in body
    assert "superseded by 88 301" in body
    assert f'href="/replays/{replay.pk}"' in body
    assert ">You</a>" in body
    assert ">You</a>" not in page(scene, "reviewer")


def test_entries_of_other_flows_are_not_there(scene):
    write(flow=scene.foreign, reason="a foreign reason")
    assert "a foreign reason" not in page(scene)
    assert "a foreign reason" not in page(scene, flow="crm-sync")
    assert "a foreign reason" in page(scene, "stranger")


def test_entries_of_no_flow_are_for_whoever_did_it_and_for_owners_of_the_team(scene):
    write("add hook", detail={"team": scene.disputes.team_id, "name": "h"}, reason="of the team")
    write("declare", reason="of nobody")
    write("change password", who=f"user:{scene.viewer.pk}", reason="my own")
    assert "of the team" in page(scene, "owner")
    for who in ("oncall", "reviewer", "viewer", "stranger"):
        assert "of the team" not in page(scene, who), who
    for who in ("owner", "oncall", "viewer", "stranger"):
        assert "of nobody" not in page(scene, who), who
        assert ("my own" in page(scene, who)) == (who == "viewer"), who


def test_looks_at_payloads_are_shown_on_request(scene):
    scene.client(scene.oncall).get(f"/keys/{scene.key.pk}")
    assert "looked at the payload" not in page(scene)
    assert "looked at the payload" in page(scene, verb="look")


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ({"verb": "pause"}, {"first"}),
        ({"person": "Bert Two"}, {"second"}),
        ({"person": "Bert"}, set()),
        ({"flow": "disputes"}, {"first", "second"}),
        ({"verb": "x\0'; --"}, set()),
    ],
)
def test_it_is_filtered_by_flow_verb_and_person(scene, query, there):
    write("pause", name="Anna One", flow=scene.disputes, reason="the first")
    write("resume", name="Bert Two", flow=scene.disputes, reason="the second")
    body = page(scene, **query)
    assert {word for word in ("first", "second") if f"the {word}" in body} == there


def test_pages_have_no_gap_and_no_repeat(scene, monkeypatch):
    monkeypatch.setattr("console.pages.journal.PAGE", 3)
    for number in range(7):
        write(flow=scene.disputes, reason=str(number))
        write(flow=scene.foreign, reason=str(number))
    client, query, seen = scene.client(scene.oncall), {"after": ""}, []
    while query:
        context = client.get("/journal", query).context
        seen += [entry.reason for entry in context["entries"]]
        query = {"after": context["more"]} if context["more"] else {}
    assert seen == ["6", "5", "4", "3", "2", "1", "0"]
    assert client.get("/journal", {"after": "9" * 30}).status_code == 200


def test_hostile_names_and_reasons_are_seen_not_obeyed(scene):
    write("<img src=x>", name="<script>x\u202e", flow=scene.disputes, reason="<b>\x1b[31m")
    body = scene.client(scene.oncall).get("/journal").content.decode()
    assert "<script>x" not in body
    assert "<img src=x>" not in body
    assert "U+202E" in body


def test_an_empty_journal_says_what_would_appear(scene):
    assert "Nobody has done anything yet" in page(scene, "viewer")
    assert alarm_story.OWNER.name not in page(scene, "viewer")
    assert story.PASSWORD not in page(scene, "viewer")
