"""Nobody sees what they may not: every address, list, count and payload is limited to the viewer's flows."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from console import access
from console.access import ROLES, Permission
from console.models import Grant
from parking.models import EventState
from replay.models import Replay
from tests import alarm_story
from tests.console import story

SECRET = b"crm-secret-7"
OPEN_TO_ALL = {"signin", "signout"}
LISTS = {
    "home",
    "keys",
    "unattributed",
    "replays",
    "retries",
    "counts",
    "theme",
    "incidents",
    "errors",
    "flows",
    "search",
    "journal",
    "status",
}


def addresses() -> Iterator[tuple[str, str]]:
    """Every route of the URL conf as (name, route): a new one cannot be forgotten."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, str]]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield pattern.name or "", route

    yield from walk(get_resolver().url_patterns, "")


def of_one(route: str) -> bool:
    return "<" in route


def foreign_id(scene, route):
    """The id of something in the other team's flow of the kind that this route names."""
    if route.startswith("keys"):
        return scene.foreign_key.pk
    if route.startswith("events"):
        return story.event_of(scene.foreign_key, 1).pk
    if route.startswith("replays"):
        return foreign_replay(scene).pk
    if route.startswith("flows"):
        return scene.foreign.name
    kind = route.partition("/")[0]
    if kind in alarm_story.OF_FLOW:
        return alarm_story.OF_FLOW[kind](scene.foreign).pk
    pytest.fail(f"/{route}: say here what of another team it would show")


def foreign_replay(scene) -> Replay:
    made = Replay.objects.filter(flow=scene.foreign).first()
    if made is None:
        other = story.person("other-oncall", operator=scene.foreign)
        story.decided(scene.foreign_key, other)
        made = story.requested(scene.foreign_key, other)
    return made


ROUTES = [route for name, route in addresses() if of_one(route)]


def test_the_walk_finds_the_pages():
    assert len(ROUTES) >= 30
    assert {name for name, _ in addresses()} >= OPEN_TO_ALL | LISTS


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_what_is_of_another_team_does_not_exist(scene, route, method):
    address = "/" + re.sub(r"<[^>]+>", str(foreign_id(scene, route)), route)
    for who in (scene.oncall, scene.reviewer, scene.owner):
        response = getattr(scene.client(who), method)(address)
        if response.status_code == 405:
            return
        assert response.status_code == 404, (who, address)
        assert SECRET not in response.content, (who, address)


@pytest.mark.parametrize("route", ROUTES)
def test_it_looks_the_same_as_what_does_not_exist_at_all(scene, route):
    client = scene.client(scene.oncall)
    bodies = []
    for pk in (foreign_id(scene, route), 987_654_321, 10**30):
        response = client.get("/" + re.sub(r"<[^>]+>", str(pk), route))
        if response.status_code == 405:
            return
        bodies.append(re.sub(rb'(value="/[^"]*"|\?at=[^"]*|csrfmiddlewaretoken[^>]*)', b"", response.content))
        assert response.status_code == 404
    assert bodies[0] == bodies[1] == bodies[2]


def test_a_superuser_sees_nothing_extra(scene):
    root = User.objects.create_superuser("root", password=story.PASSWORD)
    client = scene.client(root)
    assert client.get(f"/keys/{scene.key.pk}").status_code == 404
    assert b"acc-20417" not in client.get("/keys").content


@pytest.mark.parametrize(("name", "route"), [one for one in addresses() if not of_one(one[1])])
def test_without_signing_in_there_is_nothing(scene, name, route):
    if name in OPEN_TO_ALL:
        return
    response = Client().get("/" + route)
    if name == "metrics":  # for a scraper, which has a token and no account: without one there is no such page
        assert response.status_code == 404
        return
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/signin")


def test_lists_and_counts_are_limited_to_the_viewer(scene):
    foreign_replay(scene)
    told = alarm_story.delivery(scene.foreign, state="failed")
    for address in (
        "/",
        "/keys",
        "/keys?text=crm",
        "/replays",
        "/unattributed",
        "/counts?at=/keys",
        "/incidents",
        "/errors",
        "/flows",
        "/search?q=crm",
        "/journal",
        "/status",
        "/account",
    ):
        page = scene.client(scene.oncall).get(address).content
        assert SECRET not in page, address
        assert b"crm-sync" not in page, address
        assert told.hook.name.encode() not in page, address
    page = scene.client(scene.oncall).get("/keys").content.decode()
    assert "1 key stopped in 1 flow" in page
    assert re.search(r'title="1 stopped"', page)
    assert "not finished" not in page
    assert "not finished" in scene.client(scene.stranger).get("/counts").content.decode()


def test_one_error_does_not_open_the_keys_of_another_flow(scene):
    failed = EventState.objects.filter(flow=scene.foreign, error_group__isnull=False)
    group = failed.values_list("error_group", flat=True)[0]
    assert SECRET not in scene.client(scene.oncall).get(f"/keys?error={group}").content


def test_an_event_of_another_key_is_not_shown_in_this_one(scene):
    event = story.event_of(scene.foreign_key, 1)
    assert SECRET not in scene.client(scene.oncall).get(f"/keys/{scene.key.pk}?event={event.pk}").content


@pytest.mark.parametrize(
    ("role", "permissions"),
    [
        ("viewer", {"see"}),
        ("operator", {"see", "see payloads", "halt replays", "decide", "amend", "request replays"}),
        ("reviewer", {"see", "see payloads", "halt replays", "approve replays"}),
        ("owner", set(Permission)),
    ],
)
def test_what_a_role_may_do(role, permissions):
    assert ROLES[role] == permissions


def test_roles_add_up_for_each_flow_alone(scene):
    Grant.objects.create(user=scene.viewer, flow=scene.disputes, role="reviewer")
    Grant.objects.create(user=scene.viewer, flow=scene.foreign, role="viewer")
    held = access.of(User.objects.get(pk=scene.viewer.pk))
    assert held.may(scene.disputes.pk, Permission.APPROVE)
    assert not held.may(scene.foreign.pk, Permission.PAYLOADS)
    assert held.flow_ids() == sorted([scene.disputes.pk, scene.foreign.pk])
    assert list(access.flows(scene.oncall)) == [scene.disputes]
