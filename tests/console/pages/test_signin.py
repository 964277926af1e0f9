"""Signing in and out: no hint which names exist, guessing is slow, nobody is led away."""

import pytest
from django.test import Client

from console.models import FailedSignin
from tests.console import story


def attempt(name="oncall", password=story.PASSWORD, client=None, **more):
    return (client or Client()).post("/signin", {"username": name, "password": password, **more})


def test_with_name_and_password_one_is_in(scene):
    client = Client()
    assert attempt(client=client).headers["Location"] == "/"
    assert client.get("/keys").status_code == 200
    assert client.post("/signout").headers["Location"] == "/signin"
    assert client.get("/keys").status_code == 302


def test_a_wrong_name_and_a_wrong_password_look_the_same(scene):
    pages = []
    for name in ("oncall", "nobody"):
        response = attempt(name, "wrong")
        assert response.status_code == 422
        body = response.content.decode().replace(name, "")
        pages.append(body[body.index("</h1>") : body.index("csrfmiddlewaretoken")] + body[body.index('role="alert"') :])
    assert pages[0] == pages[1]


def test_guessing_is_slowed_for_that_name_from_there_only(scene):
    for _ in range(8):
        attempt(password="wrong")
    assert attempt().status_code == 429
    assert attempt("reviewer").status_code == 302
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert attempt(client=elsewhere).status_code == 302


def test_behind_a_trusted_proxy_its_clients_are_told_apart(scene, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    guesser = Client(headers={"X-Forwarded-For": "198.51.100.9, 192.0.2.1", "X-Forwarded-Proto": "https"})
    for _ in range(8):
        attempt(password="wrong", client=guesser)
    assert attempt(client=guesser).status_code == 429
    forged = Client(headers={"X-Forwarded-For": "192.0.2.5, 192.0.2.1", "X-Forwarded-Proto": "https"})
    assert attempt(client=forged).status_code == 429
    other = Client(headers={"X-Forwarded-For": "192.0.2.2", "X-Forwarded-Proto": "https"})
    assert attempt(client=other).status_code == 302


def test_what_was_typed_as_a_name_is_not_kept(scene):
    attempt("my password by mistake", "x")
    assert b"my password" not in bytes(FailedSignin.objects.get().name_digest)


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"])
def test_nobody_is_led_to_another_site(scene, to):
    assert attempt(next=to).headers["Location"] == "/"


def test_afterwards_one_is_where_one_wanted_to_go(scene):
    asked = Client().get(f"/keys/{scene.key.pk}?event=1")
    assert asked.headers["Location"] == f"/signin?next=/keys/{scene.key.pk}%3Fevent%3D1"
    assert attempt(next="/replays?after=1").headers["Location"] == "/replays?after=1"


def test_a_live_part_after_the_session_ended_leads_to_the_whole_page(scene):
    live = {"HX-Request": "true", "HX-Current-URL": "http://testserver/keys/7?event=1"}
    response = Client().get("/signin?next=/counts", headers=live)
    assert response.headers["HX-Redirect"] == "/signin?next=%2Fkeys%2F7%3Fevent%3D1"


@pytest.mark.parametrize("name", ["\0", "a\0b", "\ud800", "x" * 10_000])
def test_junk_in_the_name_is_a_wrong_name(db, name):
    assert attempt(name.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), "x").status_code == 422
