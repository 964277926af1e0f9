"""Avro as JSON and back, against fastavro; what is hostile ends, with a sentence."""

import io
import json
import math
import struct
import time

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.decoding import AVRO, Schema, avro, avro_schema, avro_write, pairs
from parking.decoding.errors import DoesNotFit, Full, NotWritable
from parking.decoding.writer import DEEPEST, MOST_VALUES, Writer

ORDER = {
    "type": "record", "name": "Order", "namespace": "shop", "fields": [
        {"name": "id", "type": "long"},
        {"name": "small", "type": "int"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "either", "type": ["null", "long", "string", {"type": "map", "values": "double"}]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
            {"name": "sku", "type": "string"}, {"name": "kind", "type": "Kind"},
            {"name": "weight", "type": "float"}]}}},
        {"name": "rates", "type": {"type": "map", "values": "double"}},
        {"name": "raw", "type": "bytes"},
        {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 3}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 2}},
        {"name": "parent", "type": ["null", "Order"]},
        {"name": "ok", "type": "boolean"},
    ],
}  # fmt: skip
LINKED = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}


def of(schema) -> avro_schema.Type:
    return avro_schema.parse(Schema(AVRO, json.dumps(schema)))


def shown(schema, value: bytes) -> str:
    to = Writer()
    avro.write(value, 0, of(schema), to)
    return to.document


def written(schema, text: str) -> bytes:
    return avro_write.encode(pairs.read(text), of(schema))


def theirs(schema, value) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def in_fewest_bytes(price) -> bool:
    """Whether fastavro writes the decimal as short as Java does: of −1.28 (−128) it writes a byte too many."""
    unscaled = -int(price.scaleb(2))
    return unscaled <= 0 or unscaled & (unscaled - 1) != 0 or unscaled.bit_length() % 8 != 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
EITHER = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), TEXTS, st.dictionaries(TEXTS, DOUBLES, max_size=3))
PRICES = st.decimals(-(10**30), 10**30, places=2).filter(in_fewest_bytes)
KINDS = st.sampled_from(["NEW", "OLD"])
ORDERS = st.fixed_dictionaries({
    "id": st.integers(-(2**63), 2**63 - 1), "small": st.integers(-(2**31), 2**31 - 1), "note": st.none() | TEXTS,
    "either": EITHER, "kind": KINDS,
    "lines": st.lists(st.fixed_dictionaries({"sku": TEXTS, "kind": KINDS, "weight": st.floats(width=32)}), max_size=3),
    "rates": st.dictionaries(TEXTS, DOUBLES, max_size=3), "raw": st.binary(max_size=9),
    "mark": st.binary(min_size=3, max_size=3), "price": PRICES, "ok": st.booleans(),
})  # fmt: skip


@given(ORDERS, st.booleans())
def test_is_what_fastavro_wrote_and_goes_back_to_the_same_bytes(order, nested):
    order = {**order, "parent": {**order, "parent": None} if nested else None}
    value = theirs(ORDER, order)
    text = shown(ORDER, value)
    read = json.loads(text, parse_float=str)
    assert (read["id"], read["small"], read["note"], read["ok"]) == (
        order["id"], order["small"], order["note"], order["ok"],
    )  # fmt: skip
    assert read["price"] == f"{order['price']:f}".replace("-0.00", "0.00")
    assert [line["sku"] for line in read["lines"]] == [line["sku"] for line in order["lines"]]
    either = order["either"]
    name = {type(None): None, int: "long", str: "string", dict: "map"}[type(either)]
    assert (read["either"] is None) if name is None else list(read["either"]) == [name]
    assert (read["parent"] is not None) == nested
    if not any(math.isnan(line["weight"]) for line in order["lines"]):  # a NaN's other bits have no text
        assert written(ORDER, text) == value


def test_every_digit_and_a_32_bit_number_in_few():
    schema = {"type": "array", "items": ["null", "float"]}
    assert shown(schema, theirs(schema, [0.1, -0.0, 3.4028234663852886e38, 16777216.0, None])) == (
        "[0.1,-0.0,3.4028235e+38,16777216.0,null]"
    )
    assert shown("long", theirs("long", -(2**63))) == "-9223372036854775808"
    decimal = {"type": "fixed", "name": "D", "size": 2000, "logicalType": "decimal", "precision": 4800, "scale": 0}
    value = (10**4790 + 7).to_bytes(2000, "big", signed=True)
    assert shown(decimal, value) == "1" + "0" * 4789 + "7"


def test_what_json_has_no_number_for():
    value = struct.pack("<dd", math.nan, -math.inf)
    schema = {"type": "record", "name": "R", "fields": [{"name": n, "type": "double"} for n in "ab"]}
    assert shown(schema, value) == '{"a":"NaN","b":"-Infinity"}'
    assert written(schema, '{"a":"NaN","b":"-Infinity"}') == value


def test_repeated_names_of_a_map_are_both_there_and_go_back():
    schema = {"type": "map", "values": "int"}
    value = b"\x04\x02a\x02\x02a\x04\x00"
    assert shown(schema, value) == '{"a":1,"a":2}'
    assert written(schema, '{"a":1,"a":2}') == value


def test_bytes_as_the_outermost_type_have_no_length():
    """Confluent's serializers write them bare."""
    assert shown("bytes", b"\x00\xff") == '"AP8="'
    assert written("bytes", '"AP8="') == b"\x00\xff"


def test_references_are_known_by_their_names():
    line = '{"type": "record", "name": "shop.Line", "fields": [{"name": "sku", "type": "string"}]}'
    schema = Schema(AVRO, '{"type": "array", "items": "shop.Line"}', (("shop.Line", line),))
    to = Writer()
    avro.write(b"\x02\x02a\x00", 0, avro_schema.parse(schema), to)
    assert to.document == '[{"sku":"a"}]'


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ('{"type": "array", "items": "shop.Line"}', "the schema names shop.Line, which it does not define"),
        ("nonsense", "the schema is no JSON (JSONDecodeError)"),
        ("[" * 200 + "]" * 200, "nested deeper than 100"),
        ("[" * 100_000, "the schema is no JSON (RecursionError)"),
        ('{"name": "x"}', "the schema has no type at {'name': 'x'}"),
        ('{"type": "record", "name": "R"}', "no list of fields in 'R'"),
        ('{"type": "enum", "symbols": []}', "a type without a name"),
        ("17", "the schema has no type at 17"),
    ],
)
def test_a_schema_that_is_none(schema, said):
    with pytest.raises(DoesNotFit, match="the schema") as error:
        avro_schema.parse(Schema(AVRO, schema))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ("long", b"", "the bytes end too early"),
        ("long", b"\xff" * 11, "more than 64 bits"),
        ("long", b"\x02\x02", "it ends at byte 1, 1 more follow"),
        ("boolean", b"\x02", "a boolean is 0 or 1"),
        ("string", b"\xfe\xff\xff\xff\x0f", "wants 2147483647 more, 0 are left"),
        ("string", b"\x01", "wants -1 more"),
        ("string", b"\x02\xff", "is not UTF-8"),
        (["null", "int"], b"\x04", "number 2 was chosen of 2 branches"),
        ({"type": "enum", "name": "E", "symbols": []}, b"\x00", "number 0 was chosen of 0 symbols"),
        (LINKED, b"\x02" * 100_000, f"nested deeper than {DEEPEST}"),
        ({"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}, b"", f"deeper than {DEEPEST}"),
        ({"type": "fixed", "name": "F", "size": 2**40}, b"1", "wants 1099511627776 more"),
    ],
)  # fmt: skip
def test_bytes_that_do_not_fit(schema, value, said):
    with pytest.raises(DoesNotFit) as error:
        shown(schema, value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": "null"},
        {"type": "array", "items": {"type": "record", "name": "R", "fields": []}},
        {"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}},
    ],
)
def test_billions_of_values_out_of_ten_bytes_end_soon(schema):
    began = time.thread_time()
    with pytest.raises(Full):
        shown(schema, avro_write.zigzag(2**62) + b"\x00")
    assert time.thread_time() - began < 2
    assert MOST_VALUES <= 100_000


def test_a_tree_of_nothing_ends_soon():
    """Ten types, each two of the next: a value of no bytes has 2^90 parts."""
    inner: object = {"type": "record", "name": "R0", "fields": []}
    for n in range(1, 90):
        fields = [{"name": "a", "type": inner}, {"name": "b", "type": f"R{n - 1}"}]
        inner = {"type": "record", "name": f"R{n}", "fields": fields}
    with pytest.raises(Full):
        shown(inner, b"")


@pytest.mark.parametrize(
    ("schema", "text", "said"),
    [
        ("int", "2147483648", "/: a whole number from -2147483648 to 2147483647 was expected, 2147483648 arrived"),
        ("int", "1.5", "a whole number"),
        ("int", "true", "a whole number"),
        ("long", "1e999999999", "a whole number"),
        ("double", "1e400", "a number of 64 bits was expected, 1E+400 arrived"),
        ("float", "1e39", "a number of 32 bits"),
        ("string", r'"\ud800"', "half of a character"),
        ("bytes", '"?"', "/: base64 was expected"),
        ("null", "0", "null was expected"),
        ("boolean", "1", "true or false was expected"),
        (["null", "int", "string"], '{"long":1}', 'null or {"int": …} or {"string": …} was expected'),
        (["int", "string"], "null", "null arrived"),
        ({"type": "array", "items": "int"}, '{"a":1}', "a list was expected, an object of 1 members arrived"),
        ({"type": "array", "items": "int"}, '[1,"2"]', "/1: a whole number"),
        ({"type": "map", "values": "int"}, "[]", "an object was expected"),
        ({"type": "fixed", "name": "F", "size": 2}, '"AA=="', "base64 of 2 bytes was expected, 1 bytes arrived"),
        (LINKED, "{}", "/: a member 'next' was expected, none arrived"),
        (LINKED, '{"next":null,"more":1}', "only what L has, once each was expected, a member 'more' arrived"),
        (LINKED, '{"next":null,"next":null}', "a member 'next' arrived"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, '"B"', 'A was expected, "B" arrived'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "1.234", "at most 2 decimal places"),
        ("int", "[1", "JSON was expected, line 1, column 3"),
        ("int", "NaN", "NaN, which is no JSON"),
        ("int", "9" * 5000, "JSON of usual size"),
        ("int", "[" * 100_000, "JSON of usual size"),
    ],
)
def test_what_cannot_be_written_says_where_and_what(schema, text, said):
    with pytest.raises(NotWritable) as error:
        written(schema, text)
    assert said in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_json_or_a_sentence(value):
    try:
        json.loads(shown(ORDER, value))
    except (DoesNotFit, Full):
        return
