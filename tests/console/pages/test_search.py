"""The search page: one box, honest answers, and no word of a payload for those who may not see payloads."""

import html
import re

import pytest

from parking.search.index import catch_up
from tests.console import story


def page(scene, query, who="oncall", status=200) -> str:
    response = scene.client(getattr(scene, who)).get("/search", query)
    assert response.status_code == status
    return html.unescape(response.content.decode())


@pytest.fixture(autouse=True)
def indexed(scene):
    catch_up()


def test_the_box_of_every_page_leads_here(scene):
    body = scene.client(scene.oncall).get("/keys").content.decode()
    assert re.search(r'<form class="find" action="/search" role="search">\s*<input type="search" name="q"', body)


def test_an_empty_box_says_what_it_finds(scene):
    assert "One box over everything" in page(scene, {})
    assert "One box over everything" in page(scene, {"q": "  "})


def test_keys_and_events_are_found_and_counted(scene):
    body = page(scene, {"q": "acc-20417"})
    assert "7 events found" in body
    assert f'href="/keys/{scene.key.pk}"' in body
    assert "In all 7 events that you may see" in body
    assert "1 event found" in page(scene, {"q": "acc-20417-4"})


def test_nothing_says_in_how_many_events(scene):
    assert "Nothing in all 7 events" in page(scene, {"q": "nothing-like-this"})


def test_what_is_not_indexed_yet_is_said(scene):
    story.simple_key(scene.lot, b"acc-new", ago=5, error=("E", "m"), held=2)
    assert "The index is 3 events behind" in page(scene, {"q": "nothing-like-this"})


@pytest.mark.parametrize(("who", "found"), [("oncall", "1 event found"), ("viewer", "Nothing in all 7 events")])
def test_words_of_payloads_are_found_by_those_who_may_see_them(scene, who, found):
    body = page(scene, {"q": "9007199254740993123"}, who)
    assert found in body
    assert ("Payloads of disputes were not searched" in body) == (who == "viewer")


def test_an_error_message_is_masked_without_the_permission(scene):
    assert "did not pass validation" in page(scene, {"q": "InvalidDecision"})
    body = page(scene, {"q": "InvalidDecision"}, "viewer")
    assert "1 event found" in body
    assert "did not pass validation" not in body
    assert "masked" in body


@pytest.mark.parametrize("query", ["crm-secret-7", "crm-secret*", "crm-secret-7-1"])
def test_another_team_has_nothing_here(scene, query):
    body = page(scene, {"q": query})
    assert "Nothing in all 7 events" in body
    assert f"/keys/{scene.foreign_key.pk}" not in body
    assert "crm-sync" not in body
    assert "Nothing in all 7 events" in page(scene, {"q": query, "flow": ""})


def test_naming_a_foreign_flow_opens_nothing(scene):
    assert "Nothing in all 0 events" in page(scene, {"q": "crm-secret-7", "flow": "crm-sync"})


@pytest.mark.parametrize(("text", "said"), [("one ... two", "Column 5"), ("a" * 5000, "too many"), ("a\0b", "NUL")])
def test_what_cannot_be_looked_for_points_at_the_column_and_keeps_what_was_typed(scene, text, said):
    body = page(scene, {"q": text}, status=400)
    assert said in body
    assert f'value="{text.replace(chr(0), "")}"' in body


@pytest.mark.parametrize("text", ["'; DROP TABLE", "%", "_", "<script>alert(1)</script>", '"', "\\", "(", "=", "*"])
def test_no_text_breaks_it(scene, text):
    response = scene.client(scene.oncall).get("/search", {"q": text})
    assert response.status_code in (200, 400)
    assert "<script>alert" not in response.content.decode()


def test_pages_have_no_gap_and_no_repeat(scene, monkeypatch):
    from parking.search import find

    real = find.find
    monkeypatch.setattr(find, "find", lambda *given, **more: real(*given, **more, size=3))
    client, query, seen = scene.client(scene.oncall), {"q": "acc-20417"}, []
    while query:
        answer = client.get("/search", query).context["answer"]
        seen += [hit.pk for hit in answer.hits]
        query = {"q": "acc-20417", "after": answer.next} if answer.next else {}
    assert len(seen) == len(set(seen)) == 7
    assert client.get("/search", {"q": "acc", "after": "garbage\0'"}).status_code == 200
