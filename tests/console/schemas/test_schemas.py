"""Schemas from a registry: asked once, and never waited for; what is wrong with it is one sentence."""

import base64
import json
import shutil
import ssl
import subprocess
import threading
import time

import pytest

from console import schemas
from console.schemas.client import LARGEST, Down, Registry, Unsound, Unwilling
from console.schemas.kept import DOWN_SECONDS, MISSING_SECONDS, Kept
from parking.decoding import AVRO, JSON, PROTOBUF, NoSchema, Schema, decode
from parking.models import Cluster
from tests.registry import AVRO as DECIDED
from tests.registry import SchemaRegistry, Silence


@pytest.fixture
def registry():
    with SchemaRegistry() as registry:
        registry.avro(5, DECIDED)
        yield registry


def of(*urls: str, **more: str) -> Registry:
    return Registry.of({"url": ",".join(urls), **{name.replace("_", "."): value for name, value in more.items()}})


def why(registry: Registry, wanted: int | str = 5) -> NoSchema:
    with pytest.raises(NoSchema) as error:
        registry.schema(wanted)
    return error.value


def test_by_number_and_by_guid(registry):
    guid = "0d1f2a3b-4c5d-4e6f-8a9b-0c1d2e3f4a5b"
    registry.schemas[6] = {"schema": "{}", "schemaType": "JSON"}
    registry.schemas[guid] = {"schema": "message A {}", "schemaType": "PROTOBUF", "guid": guid}
    assert of(registry.url).schema(5) == Schema(AVRO, json.dumps(DECIDED))
    assert of(registry.url + "/").schema(6) == Schema(JSON, "{}")
    assert of(registry.url).schema(guid) == Schema(PROTOBUF, "message A {}")
    assert registry.asked == ["/schemas/ids/5", "/schemas/ids/6", f"/schemas/guids/{guid}"]


def test_what_it_refers_to_comes_along_the_needed_first(registry):
    def refer(*names: str) -> list[dict[str, object]]:
        return [{"name": f"{name}.proto", "subject": f"shop/{name}", "version": 3} for name in names]

    registry.subjects["shop%2Fmoney", 3] = {"schema": "money", "references": refer("level")}
    registry.subjects["shop%2Flevel", 3] = {"schema": "level"}
    registry.subjects["shop%2Fline", 3] = {"schema": "line", "references": refer("money", "level", "line")}
    registry.schemas[7] = {"schema": "order", "schemaType": "PROTOBUF", "references": refer("line", "money")}
    found = of(registry.url).schema(7)
    assert found.references == (("level.proto", "level"), ("money.proto", "money"), ("line.proto", "line"))
    assert len(registry.asked) == 4
    registry.schemas[8] = {"schema": "order", "references": refer("gone")}
    assert "it refers to version 3 of shop/gone, and of that the schema registry does not have" in str(
        why(of(registry.url), 8)
    )
    registry.schemas[9] = {"schema": "order", "references": [{"name": 1}]}
    assert "in a way that is not known here" in str(why(of(registry.url), 9))


def test_references_without_end(registry):
    for n in range(100):
        registry.subjects[f"s{n}", 1] = {
            "schema": "", "references": [{"name": f"s{n + 1}", "subject": f"s{n + 1}", "version": 1}],
        }  # fmt: skip
    registry.schemas[7] = {"schema": "", "references": [{"name": "s0", "subject": "s0", "version": 1}]}
    assert "it refers to more than 60 others" in str(why(of(registry.url), 7))


def test_references_that_are_too_large_together(registry):
    for n in range(3):
        registry.subjects[f"s{n}", 1] = {"schema": "x" * (LARGEST * 2 // 5)}
    registry.schemas[7] = {
        "schema": "", "references": [{"name": f"s{n}", "subject": f"s{n}", "version": 1} for n in range(3)],
    }  # fmt: skip
    assert "what it refers to is larger than 2 MB" in str(why(of(registry.url), 7))


def test_user_and_password_or_token(registry):
    registry.user = "Basic " + base64.b64encode("ana:sösam".encode()).decode()
    assert of(registry.url, basic_auth_user_info="ana:sösam").schema(5)
    refused = why(of(registry.url, basic_auth_user_info="ana:hunter2"))
    assert str(refused) == "the schema registry refuses us (401): check its user and password"
    assert isinstance(refused, Unwilling)
    registry.user = "Bearer abc"
    assert of(registry.url, bearer_auth_token="abc").schema(5)
    assert "hunter2" not in repr(of(registry.url, basic_auth_user_info="ana:hunter2"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "schema.registry.url is missing"),
        ({"url": "http://ana:hunter2@r.example"}, "schema.registry.url holds a user or password"),
        ({"url": "http://r.example", "usr": "x"}, "schema.registry.usr is not known"),
        ({"url": "http://r.example", "basic.auth.user.info": "hunter2"}, "user:password was expected"),
        ({"url": "http://r.example", "bearer.auth.token": "hunter2\n"}, "printable ASCII was expected"),
        ({"url": "http://r.example", "ssl.ca.location": "/none/hunter2.pem"}, "a file is missing or no certificate"),
        ({"url": "http://r.example", "ssl.ca.pem": "hunter2"}, "a file is missing or no certificate"),
    ],
)
def test_settings_that_are_not_sound(given, said):
    with pytest.raises(Unsound) as error:
        Registry.of(given)
    assert said in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("answer", "said", "unwilling"),
    [
        ((500, b"oops"), "the schema registry answers 500", True),
        ((503, b""), "the schema registry answers 503", True),
        ((302, b""), "the schema registry answers 302", True),
        ((403, b"{}"), "the schema registry refuses us (403)", True),
        ((404, b"<html>"), "the schema registry does not have it", False),
        ((200, b"<html>502</html>"), "the schema registry answers what is no JSON", False),
        ((200, b'"text"'), "the schema registry answers what is no schema", False),
        ((200, b'{"schema": 5}'), "the schema registry answers what is no schema", False),
        ((200, b"[" * 100_000), "the schema registry answers what is no JSON", False),
        ((200, b'{"schema": "' + b"x" * LARGEST + b'"}'), "the schema registry's answer is larger than 2 MB", False),
    ],
)
def test_an_answer_that_is_no_schema(registry, answer, said, unwilling):
    registry.answer = answer
    error = why(of(registry.url))
    assert said in str(error)
    assert (isinstance(error, Unwilling), isinstance(error, Down)) == (unwilling, False)


def test_nobody_waits_for_one_that_is_slow_silent_or_not_there(registry):
    registry.drip = True
    with Silence() as silence:
        for url in (
            registry.url,
            silence.url,
            "http://127.0.0.1:9",
            "http://nowhere.invalid",
            "ftp://x",
            "http://[",
            "nonsense",
        ):
            began = time.monotonic()
            error = why(of(url))
            assert time.monotonic() - began < 60
            assert isinstance(error, Down), url
            assert "schema registry" in str(error)


def test_the_next_address_is_asked(registry):
    assert of("http://127.0.0.1:9", registry.url).schema(5)
    registry.answer = (403, b"{}")
    assert isinstance(why(of(registry.url, "http://127.0.0.1:9")), Unwilling)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_by_tls_only_with_a_certificate_that_is_trusted(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run([*command, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with SchemaRegistry(tls=context) as registry:
        registry.avro(5, DECIDED)
        assert of(registry.url, ssl_ca_location=str(certificate)).schema(5)
        assert Registry.of({"url": registry.url, "ssl.ca.pem": certificate.read_text()}).schema(5)
        assert "no TLS connection" in str(why(of(registry.url)))


def test_what_was_found_is_never_asked_for_again(registry):
    kept = Kept()
    for _ in range(3):
        assert kept.schema("main", of(registry.url), 5)
    assert registry.asked == ["/schemas/ids/5"]
    registry.answer = (500, b"")
    assert kept.schema("main", of(registry.url), 5)
    with pytest.raises(NoSchema):
        kept.schema("other", of(registry.url), 5)  # each cluster has its own


def test_what_was_not_found_is_asked_for_again_after_a_while(registry):
    now = [0.0]
    kept = Kept(clock=lambda: now[0])

    def ask(wanted: int) -> bool:
        try:
            return bool(kept.schema("main", of(registry.url), wanted))
        except NoSchema:
            return False

    assert not ask(6)
    registry.avro(6, DECIDED)
    now[0] = MISSING_SECONDS - 1
    assert not ask(6)
    assert ask(5)
    assert registry.asked == ["/schemas/ids/6", "/schemas/ids/5"]
    now[0] = MISSING_SECONDS
    assert ask(6)


def test_one_that_is_down_is_asked_once_for_all_schemas(registry):
    now = [0.0]
    kept = Kept(clock=lambda: now[0])
    registry.delay = 2.5
    for wanted in (5, 6, 7):
        with pytest.raises(NoSchema, match="no answer in time"):
            kept.schema("main", of(registry.url), wanted)
    assert len(registry.asked) == 1
    registry.delay = 0.0
    now[0] = DOWN_SECONDS
    assert kept.schema("main", of(registry.url), 5)


@pytest.mark.parametrize("status", [401, 403, 500])
def test_one_that_does_not_tell_one_schema_is_asked_for_others(registry, status):
    """Registries let a user see some subjects only: what stands beside what we may not see is shown."""
    kept = Kept()
    registry.answer = (status, b"{}")
    for _ in range(2):
        with pytest.raises(NoSchema, match=str(status)):
            kept.schema("main", of(registry.url), 6)
    registry.answer = None
    assert kept.schema("main", of(registry.url), 5)
    assert registry.asked == ["/schemas/ids/6", "/schemas/ids/5"]


def test_one_whose_references_take_too_long_is_asked_for_others(registry):
    for n in range(5):
        registry.subjects[f"s{n}", 1] = {"schema": "x"}
    references = [{"name": f"s{n}", "subject": f"s{n}", "version": 1} for n in range(5)]
    registry.schemas[7] = {"schema": "", "references": references}
    registry.delay = 0.6
    kept = Kept()
    with pytest.raises(NoSchema, match="no answer in time") as error:
        kept.schema("main", of(registry.url), 7)
    assert error.value.passing
    registry.delay = 0.0
    assert kept.schema("main", of(registry.url), 5)


def test_many_threads_and_many_schemas(registry):
    kept = Kept()
    for n in range(100):
        registry.avro(n, DECIDED)
    wrong: list[Exception] = []

    def ask() -> None:
        for n in range(100):
            try:
                kept.schema("main", of(registry.url), n)
            except NoSchema as error:
                wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def test_of_a_cluster(registry, settings):
    plain = Cluster(name="plain", bootstrap_servers="k:9092", settings={"client.id": "siding"})
    assert schemas.of(plain) is None
    cluster = Cluster(
        name="main", bootstrap_servers="k:9092", settings={"client.id": "siding", "schema.registry.url": registry.url}
    )
    settings.CLUSTER_SECRETS = {"main": {"sasl.password": "s", "schema.registry.basic.auth.user.info": "ana:hunter2"}}
    registry.user = "Basic " + base64.b64encode(b"ana:hunter2").decode()
    schema_of = schemas.of(cluster)
    assert schema_of is not None
    shown = decode(b"\0\0\0\0\x05\x0cdsp-77\x80\x89\x0f\x00", schema_of=schema_of)
    assert shown.written == '{"dispute_id":"dsp-77","amount_cents":123456,"reason":null}'
    assert cluster.client_settings == {"client.id": "siding", "sasl.password": "s", "bootstrap.servers": "k:9092"}
    cluster.settings = {"schema.registry.uri": "x"}
    unsound = schemas.of(cluster)
    assert unsound is not None
    with pytest.raises(NoSchema, match=r"not sound \(schema.registry.uri is not known"):
        unsound(5)
