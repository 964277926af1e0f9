"""Which of an event's headers are searched, whether their names were those of the event before or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking import fields, headers
from parking.search import own_headers

NAMES = st.sampled_from(["tenant", "x-shop", "siding-error-type", "x-stacktrace", "", "größe"])
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=12)), max_size=6)


@pytest.fixture(autouse=True)
def nothing_remembered():
    own_headers._latest.clear()


def texts(packed: bytes) -> list[bytes]:
    return list(own_headers.texts(packed, "siding", "kind"))


def test_own_names_and_values_are_searched():
    packed = headers.pack((("tenant", b"north"), ("note", None), ("siding-message", b"no"), ("my-StackTrace", b"at x")))
    assert texts(packed) == [b"tenant\nnote\nmy-StackTrace", b"north"]


@given(HEADERS, HEADERS)
def test_the_event_before_changes_nothing(before, event):
    own_headers._latest.clear()
    alone = texts(headers.pack(tuple(event)))
    texts(headers.pack(tuple(before)))
    assert texts(headers.pack(tuple(event))) == alone
    assert texts(headers.pack(tuple(event))) == alone


@pytest.mark.parametrize("end", [b"", b"\0", fields.pack([b"odd"]), b"\0\0\0\0\0\0\0\x09short"])
def test_what_is_malformed_has_no_headers(end):
    good = headers.pack((("tenant", b"north"),))
    for packed in (good + end, good[: 20 + len(end)]):
        assert texts(packed) == (texts(good) if packed == good else [])
        texts(good)
        assert texts(packed) == (texts(good) if packed == good else [])


def test_long_values_are_cut_and_long_names_not_remembered():
    value = b"v" * (own_headers.LONGEST_VALUE + 5)
    assert texts(headers.pack((("n", value),)))[1] == value[:-5]
    own_headers._latest.clear()
    assert len(texts(headers.pack((("n" * 5000, b"v"),)))) == 2
    assert not own_headers._latest
