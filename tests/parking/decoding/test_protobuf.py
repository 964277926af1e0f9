"""Protobuf values as JSON and back; what is hostile ends, with a sentence."""

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.decoding import PROTOBUF, Schema, pairs, protobuf, protobuf_write
from parking.decoding.errors import DoesNotFit, Full, NotWritable
from parking.decoding.protobuf import ENUM_NUMBER, UNKNOWN
from parking.decoding.writer import Writer

from .test_proto_text import MONEY, PROTOC

ORDER = Schema(PROTOBUF, (PROTOC / "order.proto").read_text(), (MONEY,))
TWO = Schema(PROTOBUF, (PROTOC / "two.proto").read_text())
FULL = """{
 "order_id": "o-1", "lines": [{"sku": "a", "count": 4294967295, "kind": "NEG", "level": "HIGH"}, {}],
 "prices": {"net": {"units": 9223372036854775807, "nanos": -1}, "zero": {}}, "flags_by_id": {"-7": true, "8": false},
 "cash": {"currency": "EUR"}, "at": {"seconds": 1796040000, "nanos": 5}, "deltas": [-9223372036854775808, 1],
 "raw": "AP8=", "d": 0.1, "f": 0.1, "f64": 18446744073709551615, "s32": -5, "ok": true, "note": "", "maybe": 0,
 "parent": {"order_id": "ü"}, "any": {"type_url": "type.example/x", "value": "AQ=="}, "sv": {"value": "s"},
 "message": "m", "option": "o", "optional": "p", "repeated": 3, "map": true
}"""


def shown(schema: Schema, value: bytes, *place: int) -> tuple[str, list[str]]:
    to = Writer()
    protobuf.write(protobuf.read(value, 0, protobuf.parse(schema, place or [0])), to)
    return to.document, list(to.notes)


def written(schema: Schema, text: str, *place: int) -> bytes:
    return protobuf_write.encode(pairs.read(text), protobuf.parse(schema, place or [0]))


def test_every_kind_of_field_there_and_back():
    value = written(ORDER, FULL)
    text, _ = shown(ORDER, value)
    order = json.loads(FULL)
    order["prices"] = dict(sorted(order["prices"].items()))
    assert json.loads(text) == order
    assert written(ORDER, text) == value


def test_the_place_in_the_file_chooses_the_message():
    assert shown(ORDER, b"\x0a\x02\x08\x05", 1) == ('{"inner":{"x":5}}', [])
    assert shown(ORDER, b"\x08\x05", 1, 0) == ('{"x":5}', [])
    with pytest.raises(DoesNotFit, match="the value is message 1, 3 of the schema, which has none there"):
        shown(ORDER, b"", 1, 3)


def test_what_the_schema_does_not_know_is_there_by_number():
    value = (
        b"\x08\x05" + b"\x98\x06\x07" + b"\xa2\x06\x02ab" + b"\xad\x06\x01\x00\x00\x00" + b"\xb3\x06\x08\x09\xb4\x06"
    )
    text, notes = shown(ORDER, value, 1, 0)
    assert text == '{"x":5,"99":7,"100":"YWI=","101":1,"102":{"1":9}}'
    assert UNKNOWN in notes
    text, notes = shown(ORDER, written(ORDER, '{"lines":[{"kind":77}]}'))
    assert text == '{"lines":[{"kind":77}]}'
    assert notes == [ENUM_NUMBER]


def test_what_json_has_no_number_for():
    value = written(ORDER, '{"d":"NaN","f":"-Infinity"}')
    assert shown(ORDER, value)[0] == '{"d":"NaN","f":"-Infinity"}'
    assert math.isnan(protobuf.read(value, 0, protobuf.parse(ORDER, [0])).d)  # type: ignore[attr-defined]


def test_proto2_groups_and_packed_numbers():
    text = '{"a":1,"c":[1,2],"d":[3],"g":{"z":5},"h":{"q":1}}'
    value = written(TWO, text)
    assert shown(TWO, value)[0] == text
    assert b"\x1a\x02\x01\x02\x20\x03\x2b\x08\x05\x2c" in value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"\x0a\xff", "it is no shop.orders.Order"),
        (b"\x0a\x01\xff", "it is no shop.orders.Order"),  # a text that is not UTF-8
        (b"\x8a\x01\x80\x80\x80\x80\x10", "it is no"),
        (b"\0" * 2_000_001, "it is longer than 2 MB"),
    ],
)
def test_bytes_that_do_not_fit(value, said):
    with pytest.raises(DoesNotFit) as error:
        shown(ORDER, value)
    assert said in str(error.value)


def test_a_message_within_itself_ten_thousand_times():
    value = b""
    for _ in range(10_000):
        size = len(value)
        length = bytearray()
        while True:
            size, low = size >> 7, size & 0x7F
            length.append(low | (0x80 if size else 0))
            if not size:
                break
        value = b"\x8a\x01" + bytes(length) + value
    with pytest.raises(DoesNotFit):
        shown(ORDER, value)


def test_a_million_empty_lines_end_soon():
    began = time.thread_time()
    with pytest.raises(Full):
        shown(ORDER, b"\x12\x00" * 999_999)
    assert time.thread_time() - began < 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "/: an object (shop.orders.Order) was expected, a list of 0 arrived"),
        ('{"nope":1}', "only what shop.orders.Order has, once each was expected, a member 'nope' arrived"),
        ('{"ok":true,"ok":true}', "a member 'ok' arrived"),
        ('{"card":"1","cash":{}}', "/cash: one member of payment was expected, card too arrived"),
        ('{"lines":[{"count":-1}]}', "/lines/0/count: a whole number from 0 to 4294967295 was expected, -1 arrived"),
        ('{"lines":{}}', "/lines: a list was expected"),
        ('{"lines":[{"kind":"X"}]}', "/lines/0/kind: a whole number"),
        ('{"prices":[]}', "/prices: an object was expected"),
        ('{"prices":{"a":{},"a":{}}}', "/prices: each name once was expected, 'a' twice arrived"),
        ('{"flags_by_id":{"x":true}}', "/flags_by_id: a whole number"),
        ('{"order_id":7}', "/order_id: a text was expected, 7 arrived"),
        (r'{"order_id":"\ud800"}', "/order_id: a text of whole characters was expected"),
        ('{"raw":"?"}', "/raw: base64 was expected"),
        ('{"ok":1}', "/ok: true or false was expected"),
        ('{"f":1e39}', "/f: a number of 32 bits"),
        ('{"d":1e400}', "/d: a number of 64 bits"),
    ],
)
def test_what_cannot_be_written_says_where_and_what(text, said):
    with pytest.raises(NotWritable) as error:
        written(ORDER, text)
    assert said in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_json_or_a_sentence(value):
    try:
        json.loads(shown(ORDER, value)[0])
    except DoesNotFit:
        return
