"""One's own account: password, sessions, time zone; and the page of components for builders."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from parking.models import JournalEntry
from tests.console import story

NEW = "another-synthetic-1"


def change(client, old=story.PASSWORD, new=NEW, again=NEW):
    typed = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post("/account/password", typed)


def test_it_says_who_one_is_and_what_one_may_do(scene):
    body = scene.client(scene.oncall).get("/account").content.decode()
    assert "on-call engineer" in body
    assert "disputes" in body
    assert "amend, decide" in body
    assert "crm-sync" not in body


def test_a_changed_password_signs_out_every_other_browser_and_is_journalled(scene):
    here, there = scene.client(scene.oncall), scene.client(scene.oncall)
    assert change(here).status_code == 302
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 302
    assert User.objects.get(pk=scene.oncall.pk).check_password(NEW)
    entry = JournalEntry.objects.get(verb="change password")
    assert (entry.actor_id, entry.reason, entry.detail) == (f"user:{scene.oncall.pk}", "", {})


@pytest.mark.parametrize(
    "typed", [{"old": "wrong"}, {"again": "something else 1"}, {"new": "short", "again": "short"},
              {"new": "password1234", "again": "password1234"}],
)  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_is_changed(scene, typed):
    response = change(scene.client(scene.oncall), **typed)
    body = response.content.decode()
    assert response.status_code == 422
    assert "Your password was not changed." in body
    assert all(word not in body for word in (NEW, "something else 1", story.PASSWORD))
    assert User.objects.get(pk=scene.oncall.pk).check_password(story.PASSWORD)


def test_guessing_the_old_password_is_slowed_down(scene):
    client = scene.client(scene.oncall)
    answers = [change(client, old="wrong").status_code for _ in range(9)]
    assert answers[0] == 422
    assert answers[-1] == 429
    assert change(client).status_code == 429


def test_signing_out_everywhere_ends_every_session_of_this_person_only(scene):
    here, there, other = scene.client(scene.oncall), scene.client(scene.oncall), scene.client(scene.reviewer)
    assert "in 2 browsers" in here.get("/account").content.decode()
    assert here.post("/account/sessions").headers["Location"] == "/signin"
    for client, status in ((here, 302), (there, 302), (other, 200)):
        assert client.get("/account").status_code == status


@pytest.mark.parametrize(
    ("zone", "shown"), [("Asia/Tokyo", "Asia/Tokyo"), ("../etc", "UTC"), ("", "UTC"), ("\0", "UTC")]
)
def test_a_chosen_zone_wins_over_the_browsers(scene, zone, shown):
    client = scene.client(scene.oncall)
    client.cookies["zone"] = "UTC"
    client.post("/account/zone", {"zone": zone})
    assert f"times in {shown}" in client.get("/keys").content.decode()


@pytest.mark.parametrize("address", ["/account/password", "/account/sessions", "/account/zone"])
def test_without_signing_in_nothing_is_changed(scene, address):
    assert Client().post(address).headers["Location"].startswith("/signin")


def test_components_are_for_staff(scene):
    assert scene.client(scene.owner).get("/ux").status_code == 404
    User.objects.filter(pk=scene.viewer.pk).update(is_staff=True)
    assert "Every part that pages are made of" in scene.client(scene.viewer).get("/ux").content.decode()
