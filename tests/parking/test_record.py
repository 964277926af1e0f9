"""A record and its line of JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.malformed import Malformed
from parking.record import Record, from_json_line, to_json_line

HEADERS = (("a", b"1"), ("b", None), ("a", b"2"), ("c", b""))


def test_first_and_last_header_of_a_name() -> None:
    record = Record("t", 0, 1, 2, None, b"", HEADERS)
    assert (record.first("a"), record.last("a")) == (b"1", b"2")
    assert (record.first("b"), record.last("x")) == (None, None)
    assert record.has("b")
    assert not record.has("x")


@given(
    st.builds(
        Record,
        topic=st.text(),
        partition=st.integers(-1, 2**31),
        offset=st.integers(-1, 2**63 - 1),
        timestamp_ms=st.integers(-1, 2**63 - 1),
        key=st.none() | st.binary(),
        value=st.none() | st.binary(),
        headers=st.lists(st.tuples(st.text(), st.none() | st.binary())).map(tuple),
    )
)
def test_a_record_survives_its_line(record: Record) -> None:
    line = to_json_line(record)
    assert "\n" not in line
    assert from_json_line(line) == record


def test_what_is_missing_is_unknown() -> None:
    assert from_json_line('{"topic": "t", "more": 1}') == Record("t", -1, -1, -1, None, None)


@pytest.mark.parametrize(
    ("line", "where", "expected"),
    [
        ("", "line", "one JSON object"),
        ("[]", "line", "one JSON object"),
        ("[" * 100_000, "line", "one JSON object"),
        ('{"topic": ' + "9" * 5_000 + "}", "line", "one JSON object"),
        ("{}", "topic", "a text"),
        ('{"topic": "t", "offset": "7"}', "offset", "a whole number"),
        ('{"topic": "t", "offset": true}', "offset", "a whole number"),
        ('{"topic": "t", "offset": 9223372036854775808}', "offset", "64 bits"),
        ('{"topic": "t", "key_b64": "no!"}', "key_b64", "base64 or null"),
        ('{"topic": "t", "value_b64": 7}', "value_b64", "base64 or null"),
        ('{"topic": "t", "headers": {"a": "YQ=="}}', "headers", "a list"),
        ('{"topic": "t", "headers": [["a", "YQ=="], ["b"]]}', "headers[1]", "[name, base64 or null]"),
        ('{"topic": "t", "headers": [["a", "!"]]}', "headers[0]", "base64 or null"),
    ],
)
def test_a_line_that_cannot_be_read_says_where_and_what_was_expected(line: str, where: str, expected: str) -> None:
    with pytest.raises(Malformed) as error:
        from_json_line(line)
    assert error.value.where == where
    assert expected in error.value.expected
    assert len(str(error.value)) < 300
    assert str(error.value).isprintable()


def test_what_arrived_is_shown_short_and_harmless() -> None:
    error = Malformed("here", "text", "\x00\ud800<script>" + "x" * 10_000)
    assert str(error).isprintable()
    json.dumps(str(error)).encode()
    assert len(error.arrived) <= 120
    assert Malformed("here", "text", None).arrived == "nothing"
