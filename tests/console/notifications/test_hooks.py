"""Hooks are added, changed, tried and given new secrets; no address inside can be saved (ALM-12)."""

import pytest

from console.notifications import signing
from console.notifications.deliver import deliver
from console.notifications.hooks import add_hook, change_hook, renew_secret, send_test
from parking.errors import Refused
from parking.models import Delivery, Hook, JournalEntry, Team
from replay import http_out
from tests.alarm_story import OWNER, make_flow

pytestmark = pytest.mark.django_db
PUBLIC = "203.0.114.7"


def resolver(host, port):
    return [PUBLIC]


@pytest.fixture
def team(db):
    return Team.objects.create(name="Payments team")


def add(team, address="https://alerts.example/T0/secret", **given):
    fields = {"name": "pager", "kind": "webhook", "address": address, "reason": "paging", "resolver": resolver}
    return add_hook(team=team, actor=OWNER, **(fields | given))


def test_a_hook_is_added_and_the_journal_does_not_tell_its_address(team):
    hook = add(team)
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.detail["hook"], entry.reason) == ("add hook", hook.pk, "paging")
    assert "secret" not in str(entry.detail)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"address": "http://169.254.169.254/"}, "not public"),
        ({"address": "https://[fd00::1]/"}, "not public"),
        ({"address": "https://u:p@127.0.0.1/"}, "user or password"),
        ({"address": "ftp://alerts.example/"}, "A URL such as"),
        ({"address": "alerts.example"}, "A URL such as"),
        ({"address": "https://no-such-name.invalid/"}, "not known here"),
        ({"address": "not an address", "kind": "email"}, "e-mail address such as"),
        ({"address": "a@team.example\nBcc: b@evil.example", "kind": "email"}, "e-mail address such as"),
        ({"kind": "pigeon"}, "webhook or email"),
        ({"name": " "}, "A name of 1 to 100"),
        ({"name": "a\0b"}, "A name of 1 to 100"),
        ({"reason": ""}, "reason is needed"),
    ],
)
def test_what_may_not_be_is_refused_and_nothing_is_written(team, given, words):
    if "address" in given:
        given["resolver"] = http_out.resolve
    with pytest.raises(Refused, match=words):
        add(team, **given)
    assert not Hook.objects.exists()
    assert not JournalEntry.objects.exists()


def test_a_hook_hears_only_of_its_own_teams_flows(team):
    flow = make_flow("returns", team="Others")
    with pytest.raises(Refused, match="belongs to another team"):
        add(team, flow=flow)


def test_two_hooks_of_a_team_have_different_names(team):
    add(team)
    with pytest.raises(Refused, match="called pager already"):
        add(team)
    add(Team.objects.create(name="Others"))


def test_a_changed_address_is_looked_at_again_and_an_unchanged_one_is_not(team):
    hook = add(team)

    def private(host, port):
        return ["10.0.0.1"]

    given = {"hook_id": hook.pk, "name": "pager", "fallback": True, "enabled": True, "actor": OWNER, "reason": "moved"}
    with pytest.raises(Refused, match="not public"):
        change_hook(address="https://elsewhere.example/", resolver=private, **given)
    changed = change_hook(address=hook.address, resolver=private, **given)
    assert changed.fallback
    assert JournalEntry.objects.latest("id").detail["changed"] == ["fallback"]


def test_a_new_secret(team):
    hook = add(team)
    before = signing.secret(hook)
    after = renew_secret(hook_id=hook.pk, actor=OWNER, reason="it was in a chat")
    assert signing.secret(after) != before
    assert signing.secrets(after) == [signing.secret(after), before]


def test_a_test_is_delivered_like_a_page_and_says_that_nothing_is_wrong(team, receiver):
    hook = add(team, receiver.url, resolver=http_out.resolve)
    delivery = send_test(hook_id=hook.pk, actor=OWNER)
    assert deliver(delivery.pk, by="watch")
    assert Delivery.objects.get().state == "delivered"
    assert b"hook.test" in receiver.got[0].body
    assert b"nothing is wrong" in receiver.got[0].body
