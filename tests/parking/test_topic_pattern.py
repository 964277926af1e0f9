"""Which topics a flow means: names, and patterns that fit a whole name."""

import time

import pytest

from parking.topic_pattern import check, fits, fitting


@pytest.mark.parametrize(
    ("declared", "topic", "meant"),
    [
        ("orders.DLT", "orders.DLT", True),
        ("orders.DLT", "ordersXDLT", False),
        (r"^orders-.*\.DLT$", "orders-eu.DLT", True),
        (r"^orders-.*\.DLT", "orders-eu.DLT.old", False),
        (r"orders-.*", "orders-eu", False),
        (r"^.*-parking", "__my-parking", False),
        (r"^(a+)+b", "a" * 249, False),
    ],
)
def test_a_whole_name(declared, topic, meant):
    assert fits(declared, topic) is meant


def test_a_hostile_pattern_takes_no_time():
    began = time.thread_time()
    assert not fits("^" + "(a*)*" * 40 + "b", "a" * 249)
    assert time.thread_time() - began < 1


def test_names_among_patterns_fit_nothing():
    meant = fitting(["orders", "^eu-.*"])
    assert (meant("eu-orders"), meant("orders")) == (True, False)


@pytest.mark.parametrize("declared", ["orders.DLT", "a_b-c.1", r"^orders-(eu|us)\.DLT$"])
def test_fit_declarations(declared):
    check(declared)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("", "a topic's name"),
        (7, "a topic's name"),
        ("x" * 250, "249"),
        ("a b", "letters"),
        ("..", "letters"),
        ("^a(", "RE2"),
        (r"^(?=a)a", "RE2"),
        ("^.*", "narrower"),
        ("^", "narrower"),
    ],
)
def test_what_is_wrong_is_said(declared, says):
    with pytest.raises(ValueError, match=says):
        check(declared)
