"""Values are shown digit for digit; what cannot be shown as it is says so; nothing raises."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.decoding import decode


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, "null", "null"),
        (b"", "empty", ""),
        (b'{"a":1,"a":2}', "json", '{\n  "a": 1,\n  "a": 2\n}'),
        (b'{"n":1e400,"m":-0.10}', "json", '{\n  "n": 1e400,\n  "m": -0.10\n}'),
        (b"[]", "json", "[]"),
        (b'[{},"a:{b}"]', "json", '[\n  {},\n  "a:{b}"\n]'),
        (b"plain", "text", "plain"),
        (b"\xff\x00", "hex", "00000000  ff 00"),
    ],
)
def test_forms(value, form, text):
    shown = decode(value)
    assert (shown.form, shown.text, shown.lossy) == (form, text, False)


def test_every_digit_of_a_huge_number():
    digits = "9" * 5000
    assert digits in decode(f'{{"n":{digits}}}'.encode()).text


@pytest.mark.parametrize("depth", [1200, 100_000])
def test_deep_nesting_is_shown_and_fast(depth):
    began = time.thread_time()
    shown = decode(b"[" * depth + b"]" * depth)
    assert time.thread_time() - began < 2
    assert shown.form == "json"
    assert f"{depth} deep" in shown.notes[0]


@pytest.mark.parametrize(
    "value", [rb'{"note":"cut \ud83d"}', rb'{"note":"\ude00 lead"}', b'{"note":"raw \xed\xa0\xbd"}']
)
def test_half_a_character_is_marked(value):
    shown = decode(value)
    assert shown.lossy
    assert "\ufffd" in shown.text
    shown.text.encode()


@pytest.mark.parametrize("value", [rb'{"note":"ok \ud83d\ude00"}', rb'{"note":"\uD83D\uDE00 upper"}'])
def test_a_whole_emoji_is_shown_unmarked(value):
    shown = decode(value)
    assert "\U0001f600" in shown.text
    assert not shown.lossy
    assert not shown.notes


def test_nul():
    assert "\\u0000" in decode(rb'{"a":"x\u0000y"}').text
    assert "NUL" in decode(rb'{"a\u0000":1}').notes[0]
    literal = decode(rb'{"a":"\\u0000"}')
    assert rb'"\\u0000"'.decode() in literal.text
    raw = decode(b"\x00\x01raw")
    assert "\0" not in raw.text
    assert raw.lossy


@pytest.mark.parametrize("value", [b'{"a":NaN}', b'{"a":-Infinity}'])
def test_what_is_not_strict_json_says_so(value):
    shown = decode(value)
    assert (shown.form, shown.text) == ("text", value.decode())
    assert "Not strict JSON" in shown.notes[0]


def test_base64_of_json_is_hinted_and_kept():
    value = b'"' + base64.b64encode(b'{"id":"M1=","n":1}') + b'"'
    shown = decode(value)
    assert shown.text == value.decode()
    assert shown.preview == '{"id":"M1=","n":1}'
    assert "base64" in shown.notes[0]


@given(st.binary(max_size=400))
def test_never_raises(value):
    shown = decode(value)
    shown.text.encode()
    assert "\0" not in shown.text
