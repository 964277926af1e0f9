"""Only the moves of DESIGN section 3 exist, in the code and in the database."""

import re
from itertools import pairwise

import pytest

from replay import states

REPLAY = """
draft → requested → approved → running
running → paused
paused → running
running → releasing → completed
releasing → running
requested → rejected
requested → expired
approved → expired
draft → cancelled
requested → cancelled
approved → cancelled
running → cancelling → cancelled
paused → cancelling
releasing → cancelling
running → stopped
releasing → stopped
"""


def moves(text: str) -> set[tuple[str, str]]:
    lines = [re.split(r"\s*→\s*", line) for line in text.strip().splitlines()]
    return {pair for line in lines for pair in pairwise(line)}


def test_a_replay_moves_as_the_contract_says_and_no_other_way():
    assert set(states.transitions(states.REPLAY)) == moves(REPLAY)


def test_a_step_gets_its_outcome_only_after_it_was_in_flight():
    outcomes = {"applied", "duplicate", "skipped", "held", "conflict", "failed", "fenced"}
    expected = {("pending", "in_flight"), ("in_flight", "unconfirmed")}
    expected |= {(before, outcome) for before in ("in_flight", "unconfirmed") for outcome in outcomes}
    assert set(states.transitions(states.STEP)) == expected


def test_terminal_and_living_are_the_two_halves():
    assert set(states.TERMINAL) == {"completed", "rejected", "expired", "cancelled", "stopped"}
    assert set(states.TERMINAL) | set(states.LIVING) == set(states.REPLAY)


@pytest.mark.parametrize(("to", "expected"), [("cancelling", {"running", "paused", "releasing"}), ("draft", set())])
def test_sources_are_read_from_the_table(to, expected):
    assert set(states.sources(states.REPLAY, to)) == expected
