"""Status, owner and note of an error on its page and in the list; what fixed it last time."""

import html
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from parking.models import ErrorGroup, JournalEntry, Quarantine, Triage
from parking.models.triage import of
from parking.triage import triage
from replay import decide
from tests import alarm_story
from tests.console import story


@pytest.fixture
def broken(scene) -> ErrorGroup:
    story.simple_key(scene.lot, b"broken-1", ago=60, error=("Broken", "row 1 is bad"))
    return ErrorGroup.objects.get(flow=scene.disputes, error_type="Broken")


def post(scene, group, who="oncall", **given):
    given = {"status": "acknowledged", "seen": "0"} | given
    return scene.client(getattr(scene, who)).post(f"/errors/{group.pk}/triage", given)


def page(scene, address, who="oncall") -> str:
    return html.unescape(scene.client(getattr(scene, who)).get(address).content.decode())


def said(group) -> Triage:
    return of(ErrorGroup.objects.select_related("triage").get(pk=group.pk))


def me(user) -> str:
    return f"user:{user.pk}"


def test_on_call_takes_it(scene, broken):
    response = post(scene, broken, owner=me(scene.oncall), note="ask the ledger team")
    assert response.status_code == 302
    body = page(scene, f"/errors/{broken.pk}")
    for words in ("acknowledged", "on-call engineer", "ask the ledger team"):
        assert words in body
    row = page(scene, "/errors?status=acknowledged")
    assert "Broken" in row
    assert "on-call engineer" in row
    assert "said that the error is <strong>acknowledged</strong>" in page(scene, "/journal", "viewer")


def test_it_is_resolved_in_a_version_and_comes_back(scene, broken):
    post(scene, broken, status="resolved", version="2.1.0", reason="the mapping is fixed")
    assert "resolved in 2.1.0" in page(scene, "/errors")
    story.simple_key(scene.lot, b"broken-2", ago=0, error=("Broken", "row 2 is bad"))
    body = page(scene, f"/errors/{broken.pk}")
    assert "It came back." in body
    assert "on-call engineer had said that it is resolved in" in body.replace('<bdi class="foreign">', "").replace(
        "</bdi>", ""
    )
    assert "came back" in page(scene, "/errors?status=open")
    assert "Broken" not in page(scene, "/errors?status=resolved")


def test_it_is_ignored_until_the_beginning_of_a_day_where_the_viewer_is(scene, broken):
    client = scene.client(scene.oncall)
    client.cookies["zone"] = "Asia/Tokyo"
    day = (timezone.now() + timedelta(days=9)).date()
    given = {"status": "ignored", "until": day.isoformat(), "reason": "a known batch", "seen": "0"}
    assert client.post(f"/errors/{broken.pk}/triage", given).status_code == 302
    opens_after = said(broken).opens_after
    assert opens_after
    assert opens_after.isoformat() == f"{day - timedelta(days=1)}T15:00:00+00:00"
    form = client.get(f"/errors/{broken.pk}").content.decode()
    assert f'name="until" aria-label="Ignored until the beginning of" value="{day}"' in form


def test_somebody_was_faster_and_nothing_typed_is_lost(scene, broken):
    post(scene, broken, "owner", status="resolved", version="2.1.0", reason="deployed")
    late = post(scene, broken, note="it is the «ledger»", version="7", until="2031-01-01", reason="on it")
    assert late.status_code == 409
    body = html.unescape(late.content.decode())
    assert "flow owner was faster, at 20" in body
    assert "resolved in 2.1.0, owner: nobody" in body
    assert 'value="acknowledged" checked' in body
    for typed in ("it is the «ledger»", 'value="7"', 'value="2031-01-01"', ">on it</textarea>"):
        assert typed in body
    assert said(broken).status == "resolved"
    again = post(scene, broken, seen=late.context["said"].seen, reason="on it")
    assert again.status_code == 302
    assert said(broken).status == "acknowledged"


def test_what_cannot_be_said_says_why(scene, broken):
    refused = post(scene, broken, status="resolved", reason="done", note="kept")
    assert refused.status_code == 422
    assert b"the version that has the repair was expected" in refused.content
    assert b">kept</textarea>" in refused.content
    for until in ("", "2026-13-45", "tomorrow", "0001-01-01"):
        assert post(scene, broken, status="ignored", until=until, reason="x").status_code == 422


@pytest.mark.parametrize("who", ["stranger", "viewer"])
def test_only_somebody_who_may_act_on_the_flow_is_its_owner(scene, broken, who):
    refused = post(scene, broken, owner=me(getattr(scene, who)))
    assert refused.status_code == 422
    assert b"somebody who may act on this flow was expected" in refused.content
    assert f'<option value="{me(getattr(scene, who))}"' not in refused.content.decode()


def test_whoever_lost_the_role_stays_owner_until_somebody_else_is(scene, broken):
    post(scene, broken, owner=me(scene.reviewer))
    scene.reviewer.grants.all().delete()
    response = post(scene, broken, owner=me(scene.reviewer), note="still theirs", seen="1")
    assert response.status_code == 302
    assert said(broken).owner_name == "second reviewer"


def test_a_viewer_sees_what_is_said_and_says_nothing(scene, broken):
    post(scene, broken, note="ask the ledger team")
    assert "ask the ledger team" in page(scene, f"/errors/{broken.pk}", "viewer")
    assert "/triage" not in page(scene, f"/errors/{broken.pk}", "viewer")
    assert post(scene, broken, "viewer", seen="1").status_code == 403
    assert post(scene, broken, "stranger", seen="1").status_code == 404
    assert JournalEntry.objects.filter(verb="triage").count() == 1


def test_the_list_is_filtered_in_the_address(scene, broken):
    def kinds(query):
        rows = scene.client(scene.oncall).get(f"/errors?{query}").context["rows"]
        return {row.group.error_type for row in rows}

    post(scene, broken, owner=me(scene.oncall))
    assert kinds("owner=me") == kinds("status=acknowledged") == kinds(f"owner={me(scene.oncall)}") == {"Broken"}
    assert "Broken" not in kinds("owner=nobody")
    assert kinds("owner=nobody&status=open") == kinds("owner=nobody") != set()
    assert kinds("owner=x%00&status=nonsense") == set()
    assert "No error has this status and owner" in page(scene, "/errors?status=resolved")


def test_owners_of_other_teams_are_not_offered(scene):
    foreign = ErrorGroup.objects.filter(flow=scene.foreign).latest("pk")
    them = story.actor(scene.stranger)
    triage(error_group_id=foreign.pk, status="open", owner=them, note="", seen="0", actor=them)
    assert "other team" not in page(scene, "/errors")


def test_what_is_ignored_grows_no_more(scene, broken):
    def growing():
        rows = scene.client(scene.oncall).get("/errors").context["rows"]
        return next(row.growing for row in rows if row.group == broken)

    assert growing()
    post(scene, broken, status="resolved", version="1", reason="done")
    assert not growing()
    story.simple_key(scene.lot, b"broken-3", ago=0, error=("Broken", "row 3 is bad"))
    assert growing()


def test_a_list_costs_the_same_for_any_number_of_errors(scene, broken):
    client = scene.client(scene.oncall)

    def cost():
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get("/errors")
        return len(asked)

    before = cost()
    for number in range(6):
        kind = f"Kind{'abcdef'[number]}"
        story.simple_key(scene.lot, kind.encode(), ago=60, error=(kind, "bad"))
        post(scene, ErrorGroup.objects.get(error_type=kind), owner=me(scene.oncall))
    assert cost() == before


def test_what_fixed_it_last_time(scene, broken):
    for number, (action, reason) in enumerate(
        [("apply", "the row was repaired"), ("skip", "not needed any more"), ("apply", "the row was repaired")], 1
    ):
        name = b"broken-%d" % number
        if number > 1:
            story.simple_key(scene.lot, name, ago=60, error=("Broken", f"row {number} is bad"))
        key = scene.lot.quarantine(name)
        event = story.event_of(key, 1)
        decide.decide(event_state_id=event.pk, action=action, reason=reason, actor=story.actor(scene.oncall))
        alarm_story.settle(scene.lot, key, "applied" if action == "apply" else "skipped")
    assert "No event of this error took effect by a decision yet" in page(scene, f"/errors/{broken.pk}")
    Quarantine.objects.filter(error_groups__error_group=broken).update(
        state="released", poison=0, held=0, released_at=timezone.now()
    )
    body = page(scene, f"/errors/{broken.pk}", "viewer")
    assert "the row was repaired" in body
    assert "2 times, last for" in body
    assert "not needed any more" not in body
