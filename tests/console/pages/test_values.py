"""Values by a schema registry on the pages: shown, explained, amended; a registry that is away makes a page poorer."""

import json
import time

import pytest

from console.schemas.kept import KEPT
from parking import fields
from parking.attempt import Attempt
from parking.decoding.avro_write import zigzag
from parking.models import Amendment, EventPayload, ParkedEvent
from tests.console import story
from tests.console.pages.test_amend import form_of, original, saved
from tests.console.pages.test_payload import stop
from tests.registry import AVRO, SchemaRegistry, Silence

DIGITS = 9_223_372_036_854_775_807
DECIDED = b"\0\0\0\0\x05\x0cdsp-77" + zigzag(DIGITS) + b"\x02\x0afraud"
PROTO = 'syntax = "proto3"; message Paid { int64 amount_cents = 1; string account = 2; }'
PAID = b"\0\0\0\0\x06\0\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12\x03acc"


@pytest.fixture
def registry(scene):
    KEPT.forget()
    with SchemaRegistry() as registry:
        registry.avro(5, AVRO)
        registry.schemas[6] = {"schema": PROTO, "schemaType": "PROTOBUF"}
        registry.schemas[7] = {"schema": json.dumps({"required": ["id"]}), "schemaType": "JSON"}
        use(scene, registry.url)
        yield registry


def use(scene, url: str) -> None:
    cluster = scene.disputes.cluster
    cluster.settings = {"schema.registry.url": url}
    cluster.save()


def page_of(client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return str(response.content.decode())


def plain_flow(scene) -> None:
    """Of values that the flow has no JSON Schema for."""
    scene.disputes.schema = None
    scene.disputes.save()


def test_an_avro_value_is_shown_digit_for_digit_with_its_report(scene, registry):
    event = stop(scene, b"k1", DECIDED)
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    assert str(DIGITS) in page
    assert "amount_cents" in page
    assert "<strong>Avro</strong>, <bdi" in page
    assert "by schema 5, named by its first five bytes" in page
    assert "What the other decoders said" in page
    assert "does not fit: " in page
    assert "Schema 5, as the registry has it" in page
    assert "  &quot;name&quot;: &quot;DisputeDecided&quot;,\n" in page
    key = page_of(scene.client(scene.oncall), f"/keys/{scene.lot.quarantine(b'k1').pk}")
    assert str(DIGITS) in key
    assert "Read as Avro" in key
    assert registry.asked == ["/schemas/ids/5"]


def test_validation_errors_are_marked_where_they_are_in_an_avro_value(scene, registry):
    event = stop(scene, b"k1", DECIDED, attempts=(Attempt(1, 1, "Broken", "no", "", story.ERRORS),))
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    line = next(line for line in page.split("<li") if "amount_cents" in line and str(DIGITS) in line)
    assert "expected integer" in line


def test_by_a_header_and_of_a_key(scene, registry):
    event = stop(scene, b"\0\0\0\0\x06\0\x12\x03acc", DECIDED[5:], headers=(("__value_schema_id", DECIDED[:5]),))
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    assert str(DIGITS) in page
    assert "named by the header __value_schema_id" in page
    assert "{&quot;account&quot;:&quot;acc&quot;}" in page
    assert "Protobuf, schema 6" in page


def test_who_may_not_see_payloads_sees_no_value_and_asks_no_registry(scene, registry):
    event = stop(scene, b"k1", DECIDED)
    for address in (f"/events/{event}", f"/events/{event}?tab=hex", f"/keys/{scene.lot.quarantine(b'k1').pk}"):
        page = page_of(scene.client(scene.viewer), address)
        assert str(DIGITS) not in page
        assert "DisputeDecided" not in page
        assert "What the other decoders said" not in page
    assert registry.asked == []


def test_a_registry_that_hangs_makes_the_page_poorer_and_holds_it_only_once(scene, registry):
    first, second = stop(scene, b"k1", DECIDED), stop(scene, b"k2", b'\0\0\0\0\x07{"id": 1}')
    with Silence() as silence:
        use(scene, silence.url)
        began = time.monotonic()
        page = page_of(scene.client(scene.oncall), f"/events/{first}")
        assert time.monotonic() - began < 20
        assert "the schema registry does not answer (no answer in time)" in page
        assert "00000000  00 00 00 00 05 0c 64 73" in page
        page = page_of(scene.client(scene.oncall), f"/events/{second}")
        assert "Shown without its schema" in page
        assert '<span class="name">' in page
        assert silence.connections == 1


def test_settings_of_a_registry_are_never_shown(scene, registry, settings):
    settings.CLUSTER_SECRETS = {"main": {"schema.registry.basic.auth.user.info": "ana:hunter2"}}
    registry.user = "Basic x"
    event = stop(scene, b"k1", DECIDED)
    for address in (f"/events/{event}", f"/events/{event}/amend", "/status", f"/flows/{scene.disputes.name}"):
        page = page_of(scene.client(scene.oncall), address)
        assert "hunter2" not in page
        assert "YW5hOmh1bnRlcjI=" not in page
    assert "refuses us (401)" in page_of(scene.client(scene.oncall), f"/events/{event}")


@pytest.mark.parametrize(
    "value", [DECIDED, PAID, b'\0\0\0\0\x07{\r\n "id": 1.10\r\n}'], ids=["avro", "protobuf", "json schema"]
)
def test_opened_and_saved_without_an_edit_no_byte_is_another(scene, registry, value):
    plain_flow(scene)
    event = stop(scene, b"k1", value)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    assert sent["form"] == ["decoded"]
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 422
    assert "Nothing is changed" in response.content.decode()
    sent["header-name"][-1], sent["header-value"][-1] = "note", "x"
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert bytes(saved(event).value) == value


@pytest.mark.parametrize(
    ("value", "edit", "expected"),
    [
        (DECIDED, (str(DIGITS), "12"), b"\0\0\0\0\x05\x0cdsp-77\x18\x02\x0afraud"),
        (DECIDED, ('"fraud"', "null"), DECIDED[:-7] + b"\x00"),
        (PAID, ('"acc"', '"ü"'), PAID[:-4] + b"\x02\xc3\xbc"),
        (b'\0\0\0\0\x07{"id": 1.10}', ("1.10", "1.100"), b'\0\0\0\0\x07{"id": 1.100}'),
    ],
    ids=["avro number", "avro null", "protobuf", "json schema"],
)
def test_edited_json_becomes_bytes_of_the_same_schema(scene, registry, value, edit, expected):
    old, new = edit
    plain_flow(scene)
    event = stop(scene, b"k1", value)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    assert old in sent["value"][0]
    sent["value"] = [sent["value"][0].replace(old, new)]
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert bytes(saved(event).value) == expected
    assert original(event) == value
    key = scene.lot.quarantine(b"k1").pk
    page = page_of(client, f"/keys/{key}?view=difference")
    assert new.strip('"') in page
    assert "00 00 00 00" not in page
    again = form_of(client, event)
    assert again["form"] == ["decoded"]
    assert new in again["value"][0]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda text: text.replace(str(DIGITS), f'"{DIGITS}"'), "/amount_cents: a whole number from"),
        (lambda text: text.replace("amount_cents", "amount"), "only what disputes.DisputeDecided has"),
        (lambda text: text[:-1], "JSON was expected, line 5, column 1"),
    ],
    ids=["a text", "another name", "no JSON"],
)
def test_what_does_not_fit_the_schema_is_not_saved_and_stays_in_the_field(scene, registry, edit, said):
    plain_flow(scene)
    event = stop(scene, b"k1", DECIDED)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["value"] = [edit(sent["value"][0].replace("\r\n", "\n"))]
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 422
    page = response.content.decode().replace("&#x27;", "'").replace("&quot;", '"')
    assert said in page
    assert sent["value"][0] in page
    assert not Amendment.objects.filter(event_state=event).exists()


def test_the_registrys_json_schema_is_checked_too(scene, registry):
    plain_flow(scene)
    event = stop(scene, b"k1", b'\0\0\0\0\x07{"id": 1}')
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["value"] = ['{"idd": 1}']
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 422
    assert "is a required property" in response.content.decode()
    assert not Amendment.objects.filter(event_state=event).exists()


def test_as_bytes_and_while_the_registry_is_away(scene, registry):
    plain_flow(scene)
    event = stop(scene, b"k1", DECIDED)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    page = page_of(client, f"/events/{event}/amend?as=bytes")
    assert "00 00 00 00 05" in page
    assert "Edit it as JSON, Avro by schema 5" in page
    KEPT.forget()
    registry.answer = (500, b"")
    page = page_of(client, f"/events/{event}/amend")
    assert "00 00 00 00 05" in page
    assert "the schema registry answers 500" in page
    response = client.post(f"/events/{event}/amend", sent)
    assert response.status_code == 422
    assert "the schema registry answers 500" in response.content.decode()
    assert not Amendment.objects.filter(event_state=event).exists()
    sent["form"], sent["value"] = ["hex"], ["00 00 00 00 05 02 61 02 00"]
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    assert bytes(saved(event).value) == b"\0\0\0\0\x05\x02a\x02\x00"


def test_a_value_that_would_not_go_back_exactly_is_edited_as_bytes(scene, registry):
    event = stop(scene, b"k1", b"\0\0\0\0\x05\x82\x00a\x02\x00")  # the length of one in two bytes
    page = page_of(scene.client(scene.oncall), f"/events/{event}/amend")
    assert "would not give back byte for byte" in page
    assert "00 00 00 00 05 82" in page


def test_messagepack_is_shown_and_edited_as_bytes(scene):
    event = stop(scene, b"k1", b"\x81\xa6amount\xcf" + b"\xff" * 8)
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    assert "18446744073709551615" in page
    assert "<strong>MessagePack</strong>" in page
    page = page_of(scene.client(scene.oncall), f"/events/{event}/amend")
    assert "81 a6 61 6d" in page
    assert "looks like MessagePack" in page


def test_what_is_special_is_said_beside_the_value(scene):
    event = stop(scene, b"k1", b'{"a":1,"a":2,"n":1e400,"t":"\\ud83d\\ude00"}')
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    assert "A name occurs more than once in one object (a)" in page
    assert "beyond what a double can hold (1e400)" in page
    assert "\U0001f600" in page


def test_what_an_event_was_unwrapped_from_is_there_for_those_who_may(scene):
    event = stop(scene, b"k1", b'{"inner": 1}')
    wrapping = b'{"message": "eyJpbm5lciI6IDF9"}'
    EventPayload.objects.filter(pk=event).update(wrapped=fields.pack([None, wrapping]))
    ParkedEvent.objects.filter(pk=event).update(not_original="The producer wrote the value anew.")
    page = page_of(scene.client(scene.oncall), f"/events/{event}")
    assert "eyJpbm5lciI6IDF9" in page
    assert "The producer wrote the value anew." in page
    assert scene.client(scene.oncall).get(f"/events/{event}/raw?part=came").content == wrapping
    assert scene.client(scene.oncall).get(f"/events/{event}/raw").content == b'{"inner": 1}'
    assert "eyJpbm5lciI6IDF9" not in page_of(scene.client(scene.viewer), f"/events/{event}")
    assert scene.client(scene.viewer).get(f"/events/{event}/raw?part=came").status_code == 403


def test_the_reviewer_sees_what_an_avro_amendment_changes_as_json(scene, registry):
    plain_flow(scene)
    event = stop(scene, b"k1", DECIDED)
    client = scene.client(scene.oncall)
    sent = form_of(client, event)
    sent["value"] = [sent["value"][0].replace(str(DIGITS), "12")]
    assert client.post(f"/events/{event}/amend", sent).status_code == 302
    replay = story.requested(scene.lot.quarantine(b"k1"), scene.oncall)
    page = page_of(scene.client(scene.reviewer), f"/replays/{replay.pk}")
    assert f"&quot;amount_cents&quot;: {DIGITS}" in page
    assert "&quot;amount_cents&quot;: 12" in page
    assert "00 00 00 00 05" not in page
    page = page_of(scene.client(scene.viewer), f"/replays/{replay.pk}")
    assert str(DIGITS) not in page
