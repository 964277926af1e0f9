"""Words: what is asked is among what is indexed, for every text."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from parking.search import document
from parking.search.numbers import Numbers, each_once
from parking.search.tokens import folded, runs, sought, words


@given(st.text())
def test_a_text_is_found_by_itself(text):
    assert set(sought(text)) <= set(words(text))


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_text_is_found_by_each_of_its_lines(lines):
    whole = set(words("\n".join(lines)))
    for line in lines:
        assert set(sought(line)) <= whole


@given(st.text())
def test_case_does_not_matter(text):
    assert folded(text) == folded(folded(text))
    assert folded(text.upper()) == folded(text.upper().lower())


@pytest.mark.parametrize(
    ("text", "asked", "not_asked"),
    [
        (
            "com.example.PaymentError",
            ["paymenterror", "com.example.paymenterror", "example"],
            ["com.example", "payment"],
        ),
        ("http://h/orders/ab-12?x=1", ["ab-12", "orders", "12"], ["ab-1"]),
        ("user@example.org", ["example.org", "user"], []),
        ("It failed: ab-12.", ["ab-12", "failed"], ["ab-12."]),
        ("注文番号-42", ["注", "注文", "番号", "42"], ["注番"]),
        ("한국어", ["한국", "국어"], []),
        ("ไทยภาษา", ["ไท"], []),
        ("हिन्दी", ["हिन्दी"], []),
        ("a\u200bb\ufffdc", ["a", "b", "c"], ["abc"]),
        ("ﬁne Ｆｕｌｌ ①", ["fine", "full", "1"], []),
        ("100 %", ["100", "%"], ["100%"]),
    ],
)
def test_words(text, asked, not_asked):
    found = set(words(text))
    assert set(asked) <= found
    assert not set(not_asked) & found


def test_pairs_are_asked_for_where_there_are_no_blanks():
    assert sought("注文番号") == ["注文", "文番", "番号"]
    assert sought("注") == ["注"]


def test_the_same_word_is_another_number_in_another_flow():
    assert Numbers(1).number("word") != Numbers(2).number("word")
    assert Numbers(1).number("word") == -3061876564922139494  # stored: it must never change
    assert Numbers(1, payload=True).number("word") == -8995690985497637850


@given(st.text() | st.text("aB1._-:/@#%+ ,=", min_size=1))
def test_what_is_indexed_are_the_words(text):
    """Texts are indexed as bytes, by a way of their own for ASCII, and asked for as texts."""
    numbers = Numbers(1)
    found = b"".join(numbers[run] for run in runs(text.encode("utf-8", "surrogatepass")))
    assert set(each_once(found)) == {numbers.element(word.encode()) for word in words(text)}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_is_found_by_the_same_words_whether_it_is_read_or_not(value):
    """Where nothing is escaped the marks of JSON part its words as reading it does."""
    written = json.dumps(value, ensure_ascii=False)
    assume("\\" not in written)
    text = "\n".join(text for _, text in document.leaves(written.encode(), paths=False))
    read = "\n".join(text for _, text in document.leaves(written.encode(), paths=True))
    assert set(words(text)) == set(words(read))
