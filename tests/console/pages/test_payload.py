"""Payloads are a permission of their own, looking is journalled, and every byte and digit is what arrived."""

import base64
from pathlib import Path

import pgtrigger
import pytest
from django.utils.html import escape

from parking.attempt import Attempt, ValidationError
from parking.models import EventPayload, JournalEntry
from tests.console import story

DIGITS = "4000000000000002"
BIG = b'{"id":202201180000000014,"n":-7210194211959421178,"u":23958446825181076828,"k":9223372036854775807,"c":1.10}'
"""Case UI-01: a browser rounds integers above 2^53."""


def stop(scene, key: bytes, value: bytes | None, **more) -> int:
    """Park one poison event with that value; its id."""
    tries = more.pop("attempts", (Attempt(1, 1_796_040_000_000, "Broken", "it is broken"),))
    scene.lot.take([scene.lot.announce("poison", key.decode(), key=key, value=value, attempts=tries, **more)])
    return story.event_of(scene.lot.quarantine(key), 1).pk


def looks(who=None):
    entries = JournalEntry.objects.filter(verb="look")
    return entries.filter(actor_id=f"user:{who.pk}") if who else entries


def test_someone_without_the_permission_sees_no_value_header_message_or_trace(scene):
    tries = (
        Attempt(
            1, 1_796_040_000_000, "InvalidCard", f"invalid card {DIGITS}", f"trace of {DIGITS}",
            (ValidationError("/card", "a card", DIGITS, f"not {DIGITS}"),),
        ),
    )  # fmt: skip
    value = f'{{"name":"Ann Example","card":"{DIGITS}"}}'.encode()
    event = stop(scene, b"k1", value, attempts=tries, headers=(("event-id", b"k1"), ("card", DIGITS.encode())))
    key = scene.lot.quarantine(b"k1").pk
    client = scene.client(scene.viewer)
    addresses = [
        "/keys", f"/keys/{key}", f"/keys/{key}?view=text", f"/keys/{key}?view=hex",
        f"/events/{event}", f"/events/{event}?tab=json", f"/events/{event}?tab=hex", f"/events/{event}?tab=text",
    ]  # fmt: skip
    for address in addresses:
        page = client.get(address)
        assert page.status_code == 200
        body = page.content.decode()
        assert DIGITS not in body, address
        assert base64.b64encode(value).decode()[:20] not in body, address
    assert client.get(f"/events/{event}/raw").status_code == 403
    assert client.get(f"/events/{event}/amend").status_code == 403
    assert not looks(scene.viewer).exists()
    assert DIGITS in scene.client(scene.oncall).get(f"/keys/{key}").content.decode()


def test_a_search_by_what_is_masked_finds_nothing(scene):
    stop(scene, b"k1", b"{}", attempts=(Attempt(1, 0, "InvalidCard", f"invalid card {DIGITS}"),))
    asked = {"text": DIGITS}
    assert "No key matches" in scene.client(scene.viewer).get("/keys", asked).content.decode()
    assert "1 stopped key found" in scene.client(scene.oncall).get("/keys", asked).content.decode()


def test_looking_at_a_payload_is_journalled_once_an_hour_for_each_person_and_event(scene):
    head = story.event_of(scene.key, 1)
    for who in (scene.oncall, scene.oncall, scene.reviewer):
        scene.client(who).get(f"/keys/{scene.key.pk}")
    scene.client(scene.oncall).get(f"/events/{head.pk}/raw")
    assert list(looks().values_list("actor_id", "event_id").order_by("id")) == [
        (f"user:{scene.oncall.pk}", head.pk),
        (f"user:{scene.reviewer.pk}", head.pk),
    ]
    scene.client(scene.oncall).get(f"/keys/{scene.key.pk}?event={story.event_of(scene.key, 2).pk}")
    assert looks(scene.oncall).count() == 2


def test_a_list_is_no_look(scene):
    scene.client(scene.oncall).get("/keys")
    assert not looks().exists()


def test_reviewing_a_plan_is_a_look_at_what_was_amended(scene):
    scene.decide_all()
    replay = scene.request()
    scene.client(scene.reviewer).get(f"/replays/{replay.pk}")
    assert [entry.event_id for entry in looks(scene.reviewer)] == [story.event_of(scene.key, 1).pk]


def test_big_integers_stay_digit_for_digit_on_the_page_and_in_the_editor(scene):
    event = stop(scene, b"big", BIG)
    pages = [f"/keys/{scene.lot.quarantine(b'big').pk}", f"/events/{event}", f"/events/{event}/amend"]
    for page in pages:
        body = scene.client(scene.oncall).get(page).content.decode()
        for literal in (
            "202201180000000014",
            "-7210194211959421178",
            "23958446825181076828",
            "9223372036854775807",
            "1.10",
        ):
            assert literal in body, (page, literal)
    assert scene.client(scene.oncall).get(f"/events/{event}/raw").content == BIG


@pytest.mark.parametrize("value", [b"", b"\xff\x00\x01", b"{}", None, "ä\u202e\x00".encode()])
def test_the_download_is_the_exact_bytes_and_never_opens_in_place(scene, value):
    response = scene.client(scene.oncall).get(f"/events/{stop(scene, b'raw', value)}/raw")
    assert response.content == (value or b"")
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_html_in_key_header_payload_error_and_type_is_text_everywhere(scene):
    """Case UI-03."""
    key, message, name = b'"><svg/onload=alert(1)>', "<img src=x onerror=alert(1)>", "x'onmouseover='alert(1)"
    event = stop(
        scene, key, b'{"a":"</script><script>alert(1)</script>"}',
        attempts=(Attempt(1, 0, message, message, message, (ValidationError(*[message] * 4),)),),
        headers=(("event-id", key), ("event-type", message.encode()), (name, b"1")),
    )  # fmt: skip
    quarantine = scene.lot.quarantine(key).pk
    client = scene.client(scene.oncall)
    client.post(f"/events/{event}/decision", {"action": "skip", "reason": message})
    pages = ["/keys", f"/keys/{quarantine}", f"/events/{event}", f"/events/{event}?tab=text", f"/events/{event}/amend"]
    for address in [*pages, f"/keys/{quarantine}/replays"]:
        body = client.get(address).content.decode()
        assert "<img" not in body, address
        assert "<svg/onload" not in body, address
        assert "</script><script>" not in body, address
        assert name not in body, address
        assert escape(message) in body or address == "/events/", address


def test_no_template_trusts_a_text():
    templates = Path(__file__).resolve().parents[3] / "templates"
    found = [
        str(path)
        for path in templates.rglob("*.html")
        if "|safe" in path.read_text() or "autoescape" in path.read_text()
    ]
    assert found == []


def test_control_characters_and_bidi_overrides_are_named(scene):
    event = stop(scene, b"k", "gnp\u202eexe\x1b[2J".encode(), headers=(("event-id", b"k"), ("a\u2066b", b"\x07")))
    body = scene.client(scene.oncall).get(f"/events/{event}").content.decode()
    for name in ("U+202E RIGHT-TO-LEFT OVERRIDE", "ESC", "U+2066"):
        assert name in body
    assert "\u202e" not in body
    assert "\x1b" not in body


def test_a_value_of_5_mb_opens_with_its_beginning_and_the_rest_to_download(scene):
    value = b'{"n":' + b"9" * 20 + b',"list":[' + b",".join(b"%d" % n for n in range(700_000)) + b"]}"
    event = stop(scene, b"large", value)
    page = scene.client(scene.oncall).get(f"/keys/{scene.lot.quarantine(b'large').pk}").content
    assert len(page) < 200_000
    assert b"9" * 20 in page
    assert b"Download all" in page
    assert len(scene.client(scene.oncall).get("/keys").content) < 100_000
    assert scene.client(scene.oncall).get(f"/events/{event}/raw").content == value


def test_validation_errors_stand_at_their_lines(scene):
    body = scene.client(scene.oncall).get(f"/keys/{scene.key.pk}").content.decode()
    wrong = [line for line in body.splitlines() if "is-wrong" in line]
    assert len(wrong) == 2
    assert "amount_cents" in wrong[0]
    assert "expected integer" in wrong[0]


def test_a_removed_payload_says_so(scene):
    head = story.event_of(scene.key, 1)
    with pgtrigger.ignore("parking.EventPayload:unsettled_stays"):
        EventPayload.objects.filter(pk=head.pk).delete()
    client = scene.client(scene.oncall)
    assert "removed by this flow" in client.get(f"/keys/{scene.key.pk}").content.decode()
    assert client.get(f"/events/{head.pk}").status_code == 200
    assert client.get(f"/events/{head.pk}/raw").status_code == 404
    assert client.get(f"/events/{head.pk}/amend").status_code == 409
