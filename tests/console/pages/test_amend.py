"""Amending: what was not edited keeps its bytes, what was typed is never lost, the original is never touched."""

import html
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from console.show.edit import NotEditable, field, value_of
from parking import headers
from parking.attempt import Attempt
from parking.models import Amendment, EventPayload, EventState
from tests.console import story
from tests.console.pages.test_payload import BIG, stop

REASON = "minor units"


def form_of(client, event: int) -> dict[str, list[str]]:
    """The form as a browser would send it when nothing is edited: text areas with CRLF, all fields in their order."""
    page = client.get(f"/events/{event}/amend").content.decode()
    body = page[page.index(f'action="/events/{event}/amend"') :]
    sent: dict[str, list[str]] = {}
    area = re.search(r'<textarea[^>]*name="value"[^>]*>\n?(.*?)</textarea>', body, re.DOTALL)
    if area:
        sent["value"] = [html.unescape(area[1]).replace("\r\n", "\n").replace("\n", "\r\n")]
    for tag in re.findall(r"<(?:input|select)[^>]*>", body):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and 'type="checkbox"' not in tag and 'type="file"' not in tag and tag.startswith("<input"):
            sent.setdefault(name[1], []).append(html.unescape(value[1]) if value else "")
    for name, options in re.findall(r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', body, re.DOTALL):
        chosen = re.findall(r'<option value="([^"]*)" selected', options) or re.findall(r'value="([^"]*)"', options)
        sent.setdefault(name, []).append(chosen[0])
    sent["reason"] = [REASON]
    return sent


def original(event):
    return bytes(EventPayload.objects.get(pk=event).value or b"")


def saved(event):
    return Amendment.objects.filter(event_state=event).order_by("-version").first()


def test_saving_writes_a_version_with_the_decision_and_leaves_the_original(scene):
    client, head = scene.client(scene.oncall), story.event_of(scene.key, 1)
    sent = form_of(client, head.pk)
    sent["value"] = [story.GOOD.decode()]
    response = client.post(f"/events/{head.pk}/amend", sent)
    assert response.status_code == 302, response.content.decode()[:3000]
    made = saved(head.pk)
    assert bytes(made.value) == story.GOOD
    assert headers.unpack(made.headers) == story.headers_of(head)
    assert original(head.pk) == story.BAD
    head.refresh_from_db()
    assert head.decision.action == "amend"


def test_opened_and_saved_unchanged_nothing_is_written(scene):
    event = stop(scene, b"big", BIG)
    client = scene.client(scene.oncall)
    response = client.post(f"/events/{event}/amend", form_of(client, event))
    assert response.status_code == 422
    assert "Nothing is changed" in response.content.decode()
    assert saved(event) is None
    assert original(event) == BIG


def test_editing_one_field_leaves_every_other_digit(scene):
    scene.disputes.schema = None
    scene.disputes.save()
    event = stop(scene, b"big", BIG)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["value"] = [sent["value"][0].replace("1.10", "1.20")]
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert bytes(saved(event).value) == BIG.replace(b"1.10", b"1.20")


TRICKY = [
    b"\n\n first newlines",
    b"a\r\nb\r\n",
    b"a\nb\n",
    b"a\rb\r\nc\n",
    b"tab\tand nbsp \xc2\xa0 and bom \xef\xbb\xbf",
    b"nul \x00 inside",
    b"\xff\xfe\x00",
    b"</textarea><script>alert(1)</script>",
    b"&amp; &lt; &#10;",
    "bidi \u202e and \u2028 separators".encode(),
    b"",
    None,
    b"x" * 500_000,
]


@pytest.mark.parametrize("value", TRICKY)
def test_adding_a_header_changes_no_byte_of_the_value(scene, value):
    scene.disputes.schema = None
    scene.disputes.save()
    odd = (("event-id", b"t"), ("same", None), ("same", b""), ("same", b"\xff"), ("bell\x07", b"x\ny"), ("z", b"  z "))
    event = stop(scene, b"t", value, headers=odd)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["header-name"][-1], sent["header-value"][-1] = "added", "yes"
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 302, response.content.decode()[:2000]
    made = saved(event)
    assert (None if made.value is None else bytes(made.value)) == value
    assert headers.unpack(made.headers) == (*odd, ("added", b"yes"))


def test_headers_are_changed_nulled_written_in_hex_and_removed(scene):
    scene.disputes.schema = None
    scene.disputes.save()
    odd = (("event-id", b"t"), ("a", b"1"), ("b", b"2"), ("c", b"3"))
    event = stop(scene, b"t", b"{}", headers=odd)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["header-form"][1] = "null"
    sent["header-form"][2], sent["header-value"][2] = "hex", "00 ff"
    sent["header-gone"] = ["3"]
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert headers.unpack(saved(event).headers) == (("event-id", b"t"), ("a", None), ("b", b"\x00\xff"))


def test_a_file_gives_the_exact_bytes(scene):
    event = stop(scene, b"t", b"x" * 500_000)
    scene.disputes.schema = None
    scene.disputes.save()
    client = scene.client(scene.oncall)
    sent = {**form_of(client, event), "upload": SimpleUploadedFile("value.bin", b"\x00\xff\r\n")}
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert bytes(saved(event).value) == b"\x00\xff\r\n"


def test_somebody_faster_is_named_and_what_was_typed_stays(scene):
    client, head = scene.client(scene.oncall), story.event_of(scene.key, 1)
    sent = form_of(client, head.pk)
    scene.decide_all()
    sent["value"] = [story.GOOD.decode().replace("120000", "777")]
    response = client.post(f"/events/{head.pk}/amend", sent)
    page = html.unescape(response.content.decode())
    assert response.status_code == 409
    assert "on-call engineer wrote version 2" in page
    assert '"amount_cents": 777' in page
    assert REASON in page
    again = {**sent, "seen": ["2"]}
    assert client.post(f"/events/{head.pk}/amend", again).status_code == 302
    assert saved(head.pk).version == 3


def test_the_schemas_errors_and_the_difference_are_told_beside_the_editor(scene):
    client, head = scene.client(scene.oncall), story.event_of(scene.key, 1)
    sent = form_of(client, head.pk)
    sent["value"] = [story.BAD.decode().replace('"1200.00"', "120000")]
    beside = client.post(f"/events/{head.pk}/amend/check", sent, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in beside
    assert "/reason" in beside
    assert "1 error" in beside
    assert "120000" in beside
    sent["value"] = [story.GOOD.decode()]
    whole = client.post(f"/events/{head.pk}/amend/check", sent).content.decode()
    assert "Valid against dispute-decision 14" in whole
    assert saved(head.pk) is None


def test_a_value_against_the_schema_is_not_saved_and_stays_in_the_field(scene):
    client, head = scene.client(scene.oncall), story.event_of(scene.key, 1)
    sent = form_of(client, head.pk)
    sent["value"] = [story.BAD.decode().replace("1200.00", "still wrong")]
    response = client.post(f"/events/{head.pk}/amend", sent)
    assert response.status_code == 422
    assert "still wrong" in response.content.decode()
    assert saved(head.pk) is None


def test_hex_that_is_none_says_where(scene):
    event = stop(scene, b"t", b"\xff")
    client = scene.client(scene.oncall)
    sent = {**form_of(client, event), "value": ["fg"]}
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 422
    assert "is no hex digit" in response.content.decode()
    assert ">\nfg</textarea>" in response.content.decode()


def test_two_events_with_the_same_id_in_two_flows_are_not_confused(scene):
    """UI-06: the editor opens the event of the address, and an event that was settled meanwhile is not amended."""
    mine = stop(scene, b"same", b'{"flow": "mine"}')
    other = scene.foreign_lot
    tries = (Attempt(1, 0, "Broken", "b"),)
    other.take([other.announce("poison", "same", key=b"same", value=b'{"flow": "theirs"}', attempts=tries)])
    page = scene.client(scene.oncall).get(f"/events/{mine}/amend").content.decode()
    assert "mine" in page
    assert "theirs" not in page


def test_a_settled_event_is_not_amended(scene):
    event = stop(scene, b"t", b"{}")
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    EventState.objects.filter(pk=event).update(state="applied", settled_at=timezone.now())
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 409
    assert "cannot be amended" in response.content.decode()


@pytest.mark.parametrize("value", [one for one in TRICKY if one is not None and len(one) < 400_000])
def test_a_field_gives_back_what_it_was_given(value):
    shown = field(value)
    sent = shown.text.replace("\r\n", "\n").replace("\n", "\r\n")
    assert value_of(shown.form, sent, before=value) == value


@pytest.mark.parametrize("typed", ["0", "zz", "0x00"])
def test_wrong_hex_is_refused(typed):
    with pytest.raises(NotEditable, match="Hex was expected"):
        value_of("hex", typed, before=None)
