"""Hold keys: key rules, null keys, and JSON that would break a parser."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.hold_key import hold_key, keys
from parking.json_member import json_member


@pytest.mark.parametrize("key", [b"", b"null", b"None", b"\x00\xff"])
def test_raw(key: bytes) -> None:
    assert hold_key(key, "e1") == key


@pytest.mark.parametrize("rule", ["raw", "prefix", "json:a"])
def test_an_event_without_a_key_is_held_alone(rule: str) -> None:
    assert hold_key(None, "é1", rule=rule) == "é1".encode()


def test_an_event_of_an_independent_flow_is_held_alone() -> None:
    assert hold_key(b"k", "e1", promise="independent") == b"e1"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"\x00\x00\x00\x00\x05acct-42", b"acct-42"),
        (b"\x00\x00\x00\x00\x09acct-42", b"acct-42"),
        (b"\x00\x00\x00\x00\x05", b""),
        (b"\x00\x00\x00\x05", b"\x00\x00\x00\x05"),
        (b"\x01\x00\x00\x00\x05acct", b"\x01\x00\x00\x00\x05acct"),
        (b"", b""),
    ],
)
def test_prefix(key: bytes, expected: bytes) -> None:
    assert hold_key(key, "e1", rule="prefix") == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b'{"a": {"b": "x"}}', b"x"),
        (b'{"a": {"b": "x\\u00e9\\n"}}', "xé\n".encode()),
        (b'{"a": {"b": ""}}', b""),
        (b'{"a": {"b": 1e400}}', b"1e400"),
        (b'{"a": {"b": -0.10 }}', b"-0.10"),
        (b'{"a": {"b": true}}', b"true"),
        (b'{"a": {"b": null}}', b"null"),
        (b'{"a": {"b": [1,  2]}}', b"[1,  2]"),
        (b' {"x": {"b": 1}, "a" : { "b" : {"c":1 } } } ', b'{"c":1 }'),
        (b'{"a": {"b": 1}, "a": {"b": 2}}', b"2"),
        (b'{"\\u0061": {"b": "escaped name"}}', b"escaped name"),
        (b'{"a": {"b": "\\ud83d\\ude42"}}', "\U0001f642".encode()),
        (b'{"a": {"b": "\\ud800"}}', b'"\\ud800"'),
        (b'{"a": {"b": ' + b"9" * 5_000 + b"}}", b"9" * 5_000),
        (b'{"a": {"b": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}", b"[" * 50_000 + b"]" * 50_000),
    ],
)
def test_json(document: bytes, expected: bytes) -> None:
    assert hold_key(document, "e1", rule="json:a.b") == expected


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"acct-42",
        b'"a"',
        b"{}",
        b'{"a": 1}',
        b'{"a": {"b": 1}, "a": {}}',
        b'[{"a": {"b": 1}}]',
        b'{"a": [{"b": 1}]}',
        b'{"a": {"b": NaN}}',
        b'{"a": {"b": 01}}',
        b'{"a": {"b": 1}',
        b'{"a": {"b": 1}}x',
        b'{"a": {"b": 1},}',
        b"{'a': {'b': 1}}",
        b'{"a": {"b": "\x01"}}',
        b'\xef\xbb\xbf{"a": {"b": 1}}',
        b'{"a": {"b": "\xff"}}',
        b"[" * 100_000,
        b"{" * 10,
        b'{"a" {"b": 1}}',
        b'{"a": {"b": 1 2}}',
        b'{"a": }',
        b"]",
        b'{"a": {"b": "\\x"}}',
        b'{"a": {"b": "\\u12"}}',
        b"\x00" * 100,
    ],
)
def test_the_raw_key_where_there_is_no_such_member(document: bytes) -> None:
    assert hold_key(document, "e1", rule="json:a.b") == document


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc") | st.text(), inner, max_size=4),
)


@given(JSON, st.booleans())
def test_it_finds_what_a_parser_finds(document: object, ascii_only: bool) -> None:
    written = json.dumps(document, ensure_ascii=ascii_only, indent=ascii_only or None)
    try:
        data = written.encode()
    except UnicodeEncodeError:
        return
    parsed = document.get("a") if isinstance(document, dict) else None
    parsed = parsed.get("b") if isinstance(parsed, dict) and "b" in parsed else ...
    found = json_member(data, ["a", "b"])
    if parsed is ...:
        assert found is None
    elif isinstance(parsed, str) and not any("\ud800" <= c <= "\udfff" for c in parsed):
        assert found == parsed.encode()
    else:
        assert found is not None
        assert json.loads(found) == parsed


@given(st.binary())
def test_it_never_raises(key: bytes) -> None:
    assert isinstance(hold_key(key, "e1", rule="json:a"), bytes)


@pytest.mark.parametrize("rule", ["", "Raw", "json", "json:", "json:a..b", "json:.a", "avro"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="expected raw, prefix or json"):
        hold_key(b"k", "e1", rule=rule)


def test_an_unknown_promise_is_refused() -> None:
    with pytest.raises(ValueError, match="expected keyed or independent"):
        hold_key(b"k", "e1", promise="none")


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ("prefix", b"\0\0\0\0\x07\0account"),
        ("prefix", b"\0\0\0\0\x07account"),
        ("prefix", b"\0\0\0\0\x07"),
        ("prefix", b"\0\0"),
        ("prefix", None),
        ("json:account.id", b'{"account": {"id": "x1"}}'),
        ("json:account.id", b'{"account": {"id": {"account": {"id": 7}}}}'),
        ("json:account.id", b'{"account": {"id": "{\\"account\\": {\\"id\\": 7}}"}}'),
        ("json:account.id", b'{"account": {"id": "\\ud800"}}'),
        ("json:account.id", b"\xff"),
        ("json:account.id", None),
        ("raw", b""),
        ("raw", None),
    ],
)
@pytest.mark.parametrize("promise", ["keyed", "independent"])
def test_of_each_hold_key_a_record_key_is_known(rule: str, promise: str, key: bytes | None) -> None:
    for event_id in ("e1", "\0\0\0\0\0e", '{"account": {"id": 7}}'):
        held = hold_key(key, event_id, rule=rule, promise=promise)
        found = [hold_key(one, event_id, rule=rule, promise=promise) for one in keys(held, rule=rule)]
        assert held in found
