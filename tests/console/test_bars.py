"""Small bars and short words: pure."""

import pytest

from console.show.alarms import short
from console.show.bars import bars


def drawn(*values, **more):
    return bars(values, [str(at) for at in range(len(values))], what="parked", unit="hour", **more)


def test_the_highest_bar_is_as_high_as_the_picture_and_nothing_is_still_seen():
    picture = drawn(0, 1, 10, 5, height=20)
    assert [bar.height for bar in picture.bars] == [1, 2, 20, 10]
    assert all(bar.y + bar.height == 20 for bar in picture.bars)
    assert picture.bars[-1].x + picture.bars[-1].width == picture.width


def test_what_stands_out_is_marked_and_an_even_row_is_not():
    assert [bar.high for bar in drawn(1, 1, 1, 9).bars] == [False, False, False, True]
    assert not any(bar.high for bar in drawn(7, 7, 7, 7).bars)
    assert not any(bar.high for bar in drawn(0, 0).bars)


def test_it_is_told_in_words():
    assert drawn(1, 2000).label == "2\u202f001 parked, at most 2\u202f000 in one hour"
    assert drawn(0, 0).label == "none parked"
    assert drawn(3).bars[0].title == "0: 3"
    assert drawn().width == 1


@pytest.mark.parametrize(
    ("kind", "detail", "said"),
    [
        ("age", {"threshold": 300}, "age over 5\u202fm"),
        ("depth", {"threshold": 1000}, "depth over 1\u202f000"),
        ("stale", {"threshold": 120}, "intake is silent"),
        ("restored-ledger", {}, "restored ledger"),
        ("age", {"threshold": "x"}, "age"),
    ],
)
def test_what_an_incident_is_about_fits_on_a_chip(kind, detail, said):
    assert short(kind, detail) == said
