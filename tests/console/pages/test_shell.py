"""What stands around every page: security headers, CSRF, theme, zone, failures, and how much a list costs."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from console import zone
from console.pages.shell import initials
from replay.models import Replay
from tests import alarm_story
from tests.console import story
from tests.console.pages.test_access import addresses

LISTS = [
    "/",
    "/keys",
    "/keys?text=k",
    "/replays",
    "/unattributed",
    "/counts",
    "/incidents",
    "/errors",
    "/flows",
    "/flows/disputes",
    "/search?q=broken",
    "/journal",
    "/status",
]
POSTS = [
    "assign",
    "incident_acknowledge",
    "flow_retention",
    "hook",
    "account_password",
    "decision",
    "replay_request",
    "replay_approve",
    "replay_cancel",
    "amend",
    "amend_check",
    "signin",
    "signout",
    "theme",
]


def concrete(scene, route: str) -> str:
    pk = story.event_of(scene.key, 1).pk if route.startswith("events") else scene.key.pk
    if route.startswith("replays"):
        pk = Replay.objects.get().pk
    kind = route.partition("/")[0]
    if kind in alarm_story.OF_FLOW and "<" in route:
        pk = alarm_story.OF_FLOW[kind](scene.disputes).pk
    return "/" + re.sub(r"<[^>]+>", scene.disputes.name if kind == "flows" else str(pk), route)


def test_every_page_carries_a_strict_policy(scene):
    scene.decide_all()
    scene.request()
    client = scene.client(scene.owner)
    for _, route in addresses():
        response = client.get(concrete(scene, route))
        policy = response.headers["Content-Security-Policy"]
        assert "unsafe" not in policy, route
        assert "default-src 'none'" in policy, route
        assert response.headers["X-Frame-Options"] == "DENY", route


def test_no_page_has_inline_scripts_or_styles_or_other_hosts(scene):
    scene.decide_all()
    scene.request()
    client = scene.client(scene.owner)
    for _, route in addresses():
        body = client.get(concrete(scene, route)).content.decode("utf-8", "replace")
        assert not re.search(r"<script(?![^>]*\bsrc=)", body), route
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", body), route
        assert not re.search(r'(src|action)="(https?:)?//', body), route


@pytest.mark.parametrize("name", POSTS)
def test_without_the_token_no_form_is_taken(scene, name):
    scene.decide_all()
    scene.request()
    route = dict(addresses())[name]
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.owner)
    response = client.post(concrete(scene, route), {"action": "skip", "reason": "x"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


def test_the_theme_is_chosen_without_a_script_and_remembered(scene):
    client = scene.client(scene.oncall)
    response = client.post("/theme", {"theme": "dark", "next": "/replays"})
    assert response.headers["Location"] == "/replays"
    assert 'data-theme="dark"' in client.get("/keys").content.decode()
    client.post("/theme", {"theme": "system", "next": "https://evil.example"})
    assert "data-theme=" not in client.get("/keys").content.decode()


def test_times_are_in_the_viewers_zone_and_a_wrong_zone_is_ignored(scene):
    client = scene.client(scene.oncall)
    for name, shown in (("Asia%2FTokyo", "Asia/Tokyo"), ("../../etc", "UTC"), ("%00", "UTC")):
        client.cookies["zone"] = name
        assert f"times in {shown}" in client.get("/keys").content.decode()


def test_the_files_of_all_zones_are_not_opened_for_each_page(scene, monkeypatch):
    client = scene.client(scene.oncall)
    client.get("/keys")
    monkeypatch.setattr(zone, "available_timezones", lambda: pytest.fail("hundreds of files are opened again"))
    assert client.get("/keys").status_code == 200


def test_the_counts_that_come_later_know_on_which_page_they_stand(scene):
    body = scene.client(scene.oncall).get("/counts?at=/replays").content.decode()
    assert 'hx-get="/counts?at=/replays"' in body
    assert '<a href="/replays" aria-current="page">' in body


def test_failures_are_pages_of_ours(scene):
    client = scene.client(scene.viewer)
    assert "There is nothing here for you" in client.get("/nowhere").content.decode()
    assert (
        "Your role does not allow this"
        in client.get(f"/events/{story.event_of(scene.key, 1).pk}/amend").content.decode()
    )


def test_a_failure_of_ours_needs_no_database(scene, rf, django_assert_num_queries):
    from console.pages.failure import broken

    with django_assert_num_queries(0):
        response = broken(rf.get("/keys"))
    assert response.status_code == 500
    assert "Something broke on our side" in response.content.decode()


@pytest.mark.slow
def test_a_list_asks_as_many_questions_for_thirty_rows_as_for_two(scene):
    def cost(address: str) -> int:
        client = scene.client(scene.oncall)
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    _grow(scene, 2)
    before = {address: cost(address) for address in LISTS}
    _grow(scene, 30)
    assert {address: cost(address) for address in LISTS} == before
    assert not {address for address, questions in before.items() if questions > 24}


def test_a_key_asks_as_many_questions_for_sixty_events_as_for_three(scene):
    def cost(held: int) -> int:
        key = story.simple_key(scene.lot, b"k%d" % held, ago=900, error=("Broken", "b"), held=held)
        client = scene.client(scene.oncall)
        client.get(f"/keys/{key.pk}")  # the look is journalled once
        with CaptureQueriesContext(connection) as asked:
            client.get(f"/keys/{key.pk}")
        return len(asked)

    assert cost(60) == cost(2)


def _grow(scene, count: int) -> None:
    from parking.wire import Wire

    for number in range(count):
        name = b"k-%d-%d" % (count, number)
        key = story.simple_key(scene.lot, name, ago=900, error=("Broken", "b"))
        scene.client(scene.oncall).post(f"/events/{story.event_of(key, 1).pk}/decision", {"action": "apply"})
        story.requested(key, scene.oncall)
        scene.lot.take([(Wire(name, b"\x00\xff", ()), 10.0)])
        alarm_story.incident(scene.disputes, key=name.decode())
        alarm_story.hook(scene.disputes.team, flow=scene.disputes)
    alarm_story.delivery(scene.disputes, state="failed")


@pytest.mark.parametrize(
    ("name", "letters"), [("on-call engineer", "OE"), ("reviewer", "R"), ("", "?"), ("a.b", "AB"), ("<script>", "?")]
)
def test_initials(name, letters):
    assert initials(name) == letters
