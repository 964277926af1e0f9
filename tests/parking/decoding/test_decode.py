"""Which decoder wins, why the others do not, and what becomes of a value whose schema cannot be had."""

import json
import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.decoding import AVRO, JSON, PROTOBUF, NoSchema, NotWritable, Schema, decode
from parking.decoding.rewrite import rewritable, rewrite

GUID = "0d1f2a3b-4c5d-4e6f-8a9b-0c1d2e3f4a5b"
SCHEMAS: dict[int | str, Schema] = {
    5: Schema(AVRO, '{"type": "record", "name": "Paid", "fields": [{"name": "id", "type": "long"}]}'),
    6: Schema(PROTOBUF, 'syntax = "proto3"; message A { int64 id = 1; } message B { string text = 1; }'),
    7: Schema(JSON, '{"type": "object"}'),
    8: Schema("THRIFT", "struct X {}"),
    9: Schema(AVRO, "nonsense"),
    GUID: Schema(PROTOBUF, 'syntax = "proto3"; message A { message I { int64 id = 1; } }'),
}
AVRO_VALUE = b"\0\0\0\0\x05\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
PROTO_VALUE = b"\0\0\0\0\x06\x02\x02\x0a\x02hi"
JSON_VALUE = b'\0\0\0\0\x07{"n": 1.10}'


def schema_of(number: int | str) -> Schema:
    if number not in SCHEMAS:
        raise NoSchema("the schema registry does not have it")
    return SCHEMAS[number]


def down(_: int | str) -> Schema:
    raise NoSchema("the schema registry does not answer (no answer in time)", passing=True)


def never(_: int | str) -> Schema:
    raise AssertionError("no schema is named")


@pytest.mark.parametrize(
    ("value", "headers", "decoder", "written"),
    [
        (AVRO_VALUE, (), "Avro", '{"id":9223372036854775807}'),
        (PROTO_VALUE, (), "Protobuf", '{"text":"hi"}'),
        (b"\0\0\0\0\x06\0\x08\x05", (), "Protobuf", '{"id":5}'),
        (b"\0\0\0\0\x06\x01\x01\x0a\x02hi", (), "Protobuf", '{"text":"hi"}'),  # unsigned, as older clients
        (JSON_VALUE, (), "JSON Schema", '{"n": 1.10}'),
        (AVRO_VALUE[5:], (("__value_schema_id", b"\0\0\0\0\x05"),), "Avro", '{"id":9223372036854775807}'),
        (b"\x08\x05", (("__value_schema_id", b"\1" + UUID(GUID).bytes + b"\x04\0\0"),), "Protobuf", '{"id":5}'),
        (b"{}", (("__value_schema_id", b"\0\0\0\0\x07"),), "JSON Schema", "{}"),
        (AVRO_VALUE, (("__value_schema_id", None), ("__value_schema_id", b"x")), "Avro", '{"id":9223372036854775807}'),
        (AVRO_VALUE, (("__key_schema_id", b"\0\0\0\0\x06"),), "Avro", '{"id":9223372036854775807}'),
    ],
)
def test_by_the_schema_that_is_named(value, headers, decoder, written):
    shown = decode(value, headers=headers, schema_of=schema_of)
    assert (shown.decoder, shown.form, shown.written) == (decoder, "json", written)
    assert shown.verdicts[0].fits
    assert not shown.notes
    others = {one.decoder for one in shown.verdicts[1:]}
    assert others >= {"JSON", "text", "MessagePack", "CBOR", "hex"}


def test_of_a_key():
    headers = (("__value_schema_id", b"\0\0\0\0\x06"), ("__key_schema_id", b"\0\0\0\0\x05"))
    assert decode(b"\x02", headers=headers, schema_of=schema_of, part="key").written == '{"id":1}'


def test_the_report_says_why():
    verdicts = {one.decoder: (one.fits, one.said) for one in decode(AVRO_VALUE, schema_of=schema_of).verdicts}
    assert verdicts == {
        "Avro": (True, "by schema 5, named by its first five bytes"),
        "Protobuf, JSON Schema": (False, "schema 5 is none of these"),
        "JSON": (False, "it is not UTF-8"),
        "text": (False, "byte 6 (0xfe) is not UTF-8"),
        "MessagePack": (False, "it begins like a single number or text, which any bytes may"),
        "CBOR": (False, "it begins like a single number or text, which any bytes may"),
        "hex": (True, "any bytes can be shown like this, but Avro says more"),
    }
    verdicts = {one.decoder: (one.fits, one.said) for one in decode(b'{"a":1}', schema_of=never).verdicts}
    assert verdicts["JSON"] == (True, "whole and valid (RFC 8259)")
    assert verdicts["text"] == (True, "7 characters of UTF-8, but JSON says more")
    assert verdicts["Avro, Protobuf, JSON Schema"][1].startswith("no schema is named")
    first = decode(b'{"a":1,}').verdicts
    assert first[0].decoder == "text"
    assert next(one.said for one in first if one.decoder == "JSON") == "it does not fit from character 8 on"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"\0\0\0\0\x63\xff", "its first five bytes would name schema 99, but the schema registry does not have it"),
        (b"\0\0\0\0\x08\xff", "schema 8 is of a kind not known here: THRIFT"),
        (b"\0\0\0\0\x09\xff", "by schema 9: the schema is no JSON"),
        (b"\0\0\0\0\x05\xff", "by schema 5: the bytes end too early"),
        (b"\0\0\0\0\x06\xd0\x0f\xff", "by schema 6: its place in the schema has 1000 parts"),
        (b"\0\0\0\0\x06\x02\x01\xff", "by schema 6: its place in the schema has a negative part"),
        (b"\0\0\0\0\x06\x02\x06\xff", "by schema 6: the value is message 3 of the schema, which has none there"),
        (b"\0\0\0\0\x07\xff", "by schema 7: byte 1 (0xff) is not UTF-8"),
        (b"\0\0\0\0\x07", "by schema 7: it does not fit from character 1 on"),
    ],
)
def test_a_schema_that_is_named_in_vain(value, said):
    shown = decode(value, schema_of=schema_of)
    assert shown.form in ("hex", "text")
    assert said in shown.notes[0]
    assert any(said in one.said for one in shown.verdicts)


def test_a_registry_that_is_down_shows_what_can_be_shown():
    shown = decode(AVRO_VALUE, schema_of=down)
    assert shown.form == "hex"
    assert shown.notes[0] == (
        "Not read by its schema: its first five bytes would name schema 5, but the schema registry does not answer "
        "(no answer in time)."
    )
    shown = decode(JSON_VALUE, schema_of=down)
    assert (shown.form, shown.written, shown.decoder) == ("json", '{"n": 1.10}', "JSON in a frame")
    assert "does not answer" in shown.notes[0]
    shown = decode(JSON_VALUE)
    assert shown.written == '{"n": 1.10}'
    assert "no schema registry is declared" in shown.notes[0]


def test_no_registry_is_asked_where_no_schema_is_named():
    for value in (
        b'{"a":1}',
        b"text",
        b"\0\0\0\0\0\0\0\0\x05x",
        b"\0\xff\xff\xff\xff\xff",
        b"\0abc",
        b"\xff\0",
        b"",
        None,
    ):
        decode(value, schema_of=never)


def test_null_and_empty_are_two_things():
    assert (decode(None).form, decode(b"").form) == ("null", "empty")
    assert (decode(None).decoder, decode(b"").decoder) == ("null", "empty")


@pytest.mark.parametrize("value", [AVRO_VALUE, PROTO_VALUE, JSON_VALUE, b"\0\0\0\0\x06\0\x08\x05"])
def test_what_is_shown_goes_back_to_the_same_bytes(value):
    shown = decode(value, schema_of=schema_of)
    assert rewritable(value, shown)
    assert rewrite(shown.text if shown.decoder != "JSON Schema" else shown.written, value, shown) == value


def test_an_edit_stays_behind_the_same_frame():
    shown = decode(AVRO_VALUE, schema_of=schema_of)
    assert rewrite('{"id": 1}', AVRO_VALUE, shown) == b"\0\0\0\0\x05\x02"
    shown = decode(PROTO_VALUE, schema_of=schema_of)
    assert rewrite('{"text": "you"}', PROTO_VALUE, shown) == b"\0\0\0\0\x06\x02\x02\x0a\x03you"
    with pytest.raises(NotWritable, match="/text: a text was expected, 1 arrived"):
        rewrite('{"text": 1}', PROTO_VALUE, shown)
    headers = (("__value_schema_id", b"\0\0\0\0\x05"),)
    shown = decode(b"\x02", headers=headers, schema_of=schema_of)
    assert rewrite('{"id": 2}', b"\x02", shown) == b"\x04"


def test_what_would_not_go_back_exactly_is_not_edited():
    longer = b"\0\0\0\0\x05\x82\x00"  # 1 in two bytes where one would do
    shown = decode(longer, schema_of=schema_of)
    assert shown.written == '{"id":1}'
    assert not rewritable(longer, shown)
    unknown = b"\0\0\0\0\x06\0\x10\x05"
    assert not rewritable(unknown, decode(unknown, schema_of=schema_of))
    assert not rewritable(b'{"a":1}', decode(b'{"a":1}'))
    assert not rewritable(None, decode(None))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b'{"a":1,"b":{"a":2,"a":3},"\\u0061":4}', "more than once in one object (a)"),
        (b'{"n":' + b"9" * 5000 + b"}", "a number of 5000 digits"),
        (b'{"n":1e400,"m":-1e-400}', "beyond what a double can hold (1e400, -1e-400)"),
        (b"[" * 10_000 + b"]" * 10_000, "Nested 10000 deep"),
        (rb'{"a":"\ud800"}', "half of a character"),
        (b'{"a":NaN}', "Not strict JSON"),
        (b"[NaN,-Infinity,Infinity]", "Not strict JSON"),
        (rb'["\u0000"]', "NUL"),
    ],
)
def test_what_is_special_is_said_beside_what_is_written(value, words):
    began = time.thread_time()
    shown = decode(value)
    assert time.thread_time() - began < 1
    assert any(words in note for note in shown.notes), shown.notes
    assert shown.written == value.decode()


def test_ordinary_values_have_nothing_special():
    for value in (b'{"a":1,"b":{"a":[{"a":1},{"a":0.0,"z":0e5}]},"n":9007199254740993123,"e":1e5}', b"words, NaN too"):
        assert decode(value).notes == ()


def test_a_few_megabytes_are_read_soon():
    for value in (json.dumps(list(range(700_000))).encode(), b'{"a":"' + b"x" * 5_000_000 + b'"}', b"\xff" * 5_000_000):
        began = time.thread_time()
        decode(value, schema_of=never)
        assert time.thread_time() - began < 2


@given(st.binary(max_size=60), st.sampled_from(sorted(SCHEMAS, key=str)), st.booleans())
def test_never_raises_whatever_stands_behind_a_frame(rest, number, in_header):
    naming = b"\1" + UUID(number).bytes if isinstance(number, str) else b"\0" + number.to_bytes(4, "big")
    value = rest if in_header else naming + rest
    shown = decode(value, headers=(("__value_schema_id", naming),) if in_header else (), schema_of=schema_of)
    shown.text.encode()
    assert shown.verdicts
    if rewritable(value, shown):
        assert rewrite(shown.text if shown.decoder != "JSON Schema" else shown.written, value, shown) == value
