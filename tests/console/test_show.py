"""How things look: pure functions, against hostile and huge values."""

import json
import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.show import copies, difference, headers, payload, texts, unseen
from console.show.json_lines import NotJson, lines
from console.show.missing import Missing, missing

N = texts.THIN


@given(st.text())
def test_visible_text_has_nothing_unseen_and_can_be_encoded(text):
    shown = unseen.visible(text, one_line=True)
    shown.encode("utf-8")
    assert not set(shown) & set("\0\n\r\x1b\u202e\u2066\ufeff")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain ä 漢", [("plain ä 漢", "")]),
        ("a\0b", [("a", ""), ("NUL", "U+0000 control character"), ("b", "")]),
        ("\u202e", [("U+202E", "U+202E RIGHT-TO-LEFT OVERRIDE")]),
        ("\ud800", [("U+D800", "U+D800 half of a surrogate pair")]),
    ],
)
def test_unseen_characters_are_named(text, pieces):
    assert list(unseen.runs(text)) == pieces


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, f"0{N}s"),
        (41, f"41{N}s"),
        (-5, f"0{N}s"),
        (11_520, f"3{N}h 12{N}m"),
        (7_200, f"2{N}h"),
        (180_000, f"2{N}d 2{N}h"),
        (1_100_000, f"12{N}d"),
    ],
)
def test_spans(seconds, text):
    assert texts.span(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 byte"), (812, "812 bytes"), (5_000_000, f"5.0{N}MB"), (64_123, f"64.1{N}kB")]
)
def test_sizes(count, text):
    assert texts.size(count) == text


@pytest.mark.parametrize(
    ("error_type", "name"),
    [
        ("com.example.billing.TaxRateMissing", "TaxRateMissing"),
        ("com.example.Outer$Inner", "Inner"),
        ("InvalidDecision", "InvalidDecision"),
        ("not a.Class name", "not a.Class name"),
        ("", ""),
    ],
)
def test_a_class_is_called_by_its_simple_name(error_type, name):
    assert texts.simple_name(error_type) == name


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Listener failed; amount must be positive: -3", "amount must be positive: -3"),
        ("Listener method 'public void a.B.c(D)' threw exception; no tax rate", "no tax rate"),
        ("Listener failed; ", "Listener failed; "),
        ("it said: Listener failed; why", "it said: Listener failed; why"),
    ],
)
def test_a_message_is_told_without_its_wrapper(message, shown):
    assert texts.unwrapped(message) == shown


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_lines_hold_every_token_as_it_was_written(value):
    import json

    written = json.dumps(value)
    found, whole = lines(written, most=10**6)
    assert whole
    joined = "".join(text for line in found for _, text in line.spans)
    assert json.loads(joined) == value
    assert [c for c in joined if not c.isspace()] == [c for c in written if not c.isspace()]


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\ \n'))
def test_no_text_breaks_the_reader(text):
    found: list[NotJson] = []
    try:
        lines(text, most=50)
    except NotJson as error:
        found.append(error)
    assert all(0 <= error.at <= len(text) for error in found)


@given(st.binary())
def test_no_value_breaks_the_view(value):
    shown = payload.show(value, errors=[{"path": "/a/0"}, {"path": None}, {}])
    assert shown.total == len(value)
    payload.hexadecimal(value)
    difference.side_by_side(value, value + b"x")
    headers.rows([("name", value), ("name", None)])


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "[[" + "9" * 300_000 + "]]"])
def test_depth_and_digits_exhaust_nothing(text):
    payload.show(text.encode())


def marked(value: bytes, *paths: str) -> list[tuple[str, tuple[str, ...]]]:
    shown = payload.show(value, errors=[{"path": path, "expected": "x"} for path in paths])
    return [("".join(text for _, text in line.spans), line.notes) for line in shown.lines if line.notes]


@pytest.mark.parametrize("path", ["/a/0", "$.a[0]", "a[0]", "a.0"])
def test_an_error_stands_at_its_line_however_the_path_is_written(path):
    assert marked(b'{"a": [1, 2]}', path) == [("1,", ("expected x",))]


def test_an_error_about_something_missing_stands_where_it_should_be():
    assert marked(b'{"a": {"b": 1}}', "/a/c") == [('"a": {', ("c: expected x",))]


def test_escaped_names_are_found():
    assert marked(b'{"a/b~c": 1}', "/a~1b~0c") == [('"a/b~c": 1', ("expected x",))]


def test_of_a_cut_document_the_beginning_is_shown_and_said():
    shown = payload.show(b'{"first": 12345678901234567890, "list": [' + b"1, " * 50_000 + b"1]}")
    assert not shown.whole
    assert ("digits", "12345678901234567890") in [span for line in shown.lines for span in line.spans]


def test_a_character_is_never_cut_in_half():
    shown = payload.show("ä".encode() * 100_000)
    assert set(shown.text) == {"ä"}


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (b'{"a": 1}', b'{"a":1}', ["changed"]),  # only blanks: shown as text
        (b'{"a": 1}', b'{"a": 2}', ["same", "changed", "same"]),
        (b"x", None, ["changed"]),
        (b"\xff\x00", b"\xff\x01", ["changed"]),
        (b"same", b"same", []),
    ],
)
def test_differences(before, after, kinds):
    assert [row.kind for row in difference.side_by_side(before, after)] == kinds


def test_far_lines_are_counted_not_shown():
    before = "\n".join(str(number) for number in range(100))
    rows = difference.in_one(before.encode(), before.replace("50", "fifty").encode())
    assert [row.before for row in rows if row.kind == "apart"] == ["47 lines unchanged", "46 lines unchanged"]


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_of_a_small_difference_nothing_is_left_out(before, after):
    rows = difference.side_by_side("\n".join(["x", *before]).encode(), "\n".join(["y", *after]).encode())
    if all(row.kind != "apart" for row in rows):
        assert [row.before for row in rows if row.kind in ("same", "changed", "gone")] == ["x", *before]
        assert [row.after for row in rows if row.kind in ("same", "changed", "came")] == ["y", *after]


def test_thousands_of_equal_lines_are_compared_in_no_time():
    zeros = [0] * 2900
    rows = difference.side_by_side(json.dumps(zeros).encode(), json.dumps([*zeros[:1450], 1, *zeros[1451:]]).encode())
    assert [row.kind for row in rows] == ["apart", *["same"] * 3, "changed", *["same"] * 3, "apart"]
    began = time.thread_time()
    assert difference.side_by_side(json.dumps([0, 1] * 1450).encode(), json.dumps([0, 0, 1, 1] * 725).encode())
    assert time.thread_time() - began < 10  # 0.03 s; it was more than two minutes


def test_what_the_consumer_holds_and_nobody_saw_is_missing():
    told = {"still_held": [{"event_id": "e9", "position": 5, "topic": "t", "partition": 1, "offset": 88_205}]}
    assert missing([told, None], [], known=()) == [Missing("e9", 5, f"t / P1 / 88{N}205")]
    assert missing([told], [], known=[missing([told], [], known=())[0].digest]) == []
    assert missing([{"still_held": "junk", "first_held": 7}], [""], known=()) == []


def test_commands_are_quoted_for_the_shell():
    assert "'$(reboot)'" in copies.kcat("b:9092", "$(reboot)", 0, 1)
    assert copies.kcat("b:9092", "t", None, None) == ""
