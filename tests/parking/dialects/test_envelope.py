"""Wrappings that producers put around an event: undone exactly, or not at all, and never without bound."""

import base64
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import envelope


@given(st.binary(max_size=2000))
def test_gzip_and_base64_give_back_what_was_put_in(content):
    assert envelope.gunzipped(gzip.compress(content)) == content
    assert envelope.decoded(base64.b64encode(content).decode()) == content


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"\x1f\x8b",
        b"\x1f\x8b\x08junk",
        gzip.compress(b"abc", mtime=0)[:-1],
        gzip.compress(b"a", mtime=0) + b"more",
    ],
)
def test_what_is_no_whole_gzip_is_none(data):
    assert envelope.gunzipped(data) is None


def test_a_gzip_bomb_is_not_unpacked(within):
    bomb = gzip.compress(bytes(200 * 1024 * 1024), compresslevel=1)
    with within(1.0):
        assert envelope.gunzipped(bomb) is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("b'a\\x00\\xff'", b"a\0\xff"),
        ('b"it\'s"', b"it's"),
        (base64.b64encode(b'{"a":1}').decode(), b'{"a":1}'),
        (base64.b64encode(b"[1]").decode(), b"[1]"),
        (base64.b64encode(b"\0\0\0\0\x07avro").decode(), b"\0\0\0\0\x07avro"),
        ("ABCD1234", None),
        ("eyes", None),
        ("b'", None),
        ("b'a' + b'c'", None),
        ('{"a":1}', None),
        ("", None),
    ],
)
def test_only_a_text_that_surely_stands_for_bytes_is_read_as_such(text, content):
    assert envelope.told(text) == content


@given(st.one_of(st.binary(), st.text().map(str.encode), st.text().map(lambda text: ("{" + text).encode())))
def test_members_of_what_is_no_object_are_none(value):
    found = envelope.members(value)
    assert found is None or isinstance(found, dict)


@pytest.mark.parametrize("value", [b'{"a":' * 100_000, b"{" + b'"a":1,' * 3 + b"}", b"[1]", b"1", b'{"a":1} x'])
def test_broken_json_has_no_members(value):
    assert envelope.members(value) is None


def test_members_survive_what_python_and_javascript_write():
    found = envelope.members(b'{"n": %s, "nan": NaN, "big": 1e400, "half": "\\ud800"}' % (b"9" * 5000))
    assert found is not None
    assert found["half"] == "\ud800"
    assert found["n"] != found["n"]


@pytest.mark.parametrize(
    ("document", "content"),
    [
        (b'{"v": {"amount": 1.50, "n": 12345678901234567890123}}', b'{"amount": 1.50, "n": 12345678901234567890123}'),
        (b'{"v": "caf\\u00e9"}', "café".encode()),
        (b'{"v": {"n": NaN}}', b'{"n": NaN}'),
        (b'{"v": null}', None),
    ],
)
def test_a_member_is_taken_as_it_is_written(document, content):
    assert envelope.written(document, ["v"], json.loads(document)["v"]) == content
