"""The check waits, but not for ever, and says what it found instead."""

import pytest

from console.demo.check.report import Deviation, Report


@pytest.fixture
def said():
    return []


def test_what_is_so_is_said_and_counted(said):
    report = Report(seconds=60, say=said.append)
    report.same("two and two", expected=4, actual=4)
    report.so("the sky is blue")
    assert report.checked == 2
    assert [line.split("  ")[-1] for line in said] == ["two and two", "the sky is blue"]


def test_a_difference_says_both_sides(said):
    report = Report(seconds=60, say=said.append)
    with pytest.raises(Deviation, match=r"(?s)two and two.*expected 4.*found    5"):
        report.same("two and two", expected=4, actual=5)
    assert said == []


def test_it_waits_until_it_is_so(said):
    seen = iter([1, 2, 3])
    assert Report(seconds=60, say=said.append).wait("three", lambda: next(seen), lambda number: number == 3) == 3


def test_the_time_of_all_waiting_together_ends(said):
    report, looks = Report(seconds=0.3, say=said.append), list[int]()
    with pytest.raises(Deviation, match="never"):
        report.wait("never", lambda: 1, lambda number: number == 2)
    with pytest.raises(Deviation, match="nor this"):
        report.wait_same("nor this", lambda: looks.append(1), 2)
    assert looks == [1], "there was no time left"
