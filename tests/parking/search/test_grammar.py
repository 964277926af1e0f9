"""What may be typed into the box, and what is said about the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.search.grammar import Query, Term, Unsearchable, parse

HOSTILE = [
    "(",
    "(a+)+$",
    "regex: (",
    "' OR 1=1 --",
    '"',
    '""',
    '"a',
    "=",
    "a=",
    "=a",
    "*",
    "**",
    "%",
    "-",
    "a*b",
    "\\",
    "\x01",
]


def test_terms():
    assert parse('late "acc 7" ab-1* order.id=42 shop.name="Main Street"').terms == (
        Term("late"),
        Term("acc 7"),
        Term("ab-1", begins=True),
        Term("order.id=42", path="order.id", value="42"),
        Term("shop.name=Main Street", path="shop.name", value="Main Street"),
    )
    assert parse("  ") == Query(())


def test_a_pasted_piece_of_json_is_its_words():
    assert [term.words for term in parse('"orderId":"ab-12", "n":7').terms] == [["orderid", "ab-12"], ["n", "7"]]


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("\0", 1, "NUL"),
        ("a\0b", 2, "NUL"),
        ("ab \ud83d", 4, "lone surrogate"),
        ("x" * 4001, 4001, "4001 characters"),
        ("w " * 21, 41, "21 words"),
        ("late -", 6, "no letter, digit or symbol"),
        ("x" * 257 + "*", 1, "256 bytes"),
    ],
)
def test_what_cannot_be_looked_for_is_said_with_its_column(text, column, says):
    """Case SEA-02."""
    with pytest.raises(Unsearchable, match=says) as raised:
        parse(text)
    assert raised.value.column == column
    assert f"Column {column}:" in str(raised.value)


@pytest.mark.parametrize("text", [*HOSTILE, *(f"late {text}" for text in HOSTILE)])
def test_hostile_questions_are_answered(shelf, text):
    shelf.park("e-1", value=b'"' + b"a" * 30_000 + b'"')
    shelf.index()
    try:
        shelf.ask(text)
    except Unsearchable as refused:
        assert refused.column  # noqa: PT017 - either an answer or a message


@given(st.text(max_size=300))
def test_anything_typed_is_a_query_or_a_message(text):
    try:
        query = parse(text)
    except Unsearchable:
        return
    for term in query.terms:
        assert term.begins or term.words or query.alone
        (term.text + term.value).encode()
