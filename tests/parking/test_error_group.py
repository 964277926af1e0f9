"""What differs from event to event does not make another group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.error_group import group, normalised


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("amount must be positive: -3", "amount must be positive: -12.50"),
        ("no account 4f6c1c9e-0d3a-4b8e-9b1f-1f2e3d4c5b6a", "no account 00000000-0000-4000-8000-000000000000"),
        ("listener $1@382aa07f failed", "listener $1@1b2c3d failed"),
        ("closed at 2026-11-30T15:00:00Z", "closed at 2025-01-01 10:11:12.123+02:00"),
        ("hash 0xDEADBEEF", "hash 0x1"),
        ("two\n  lines 1", "two lines 2"),
    ],
)
def test_one_group(one, other):
    assert group("E", one) == group("E", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("E", "a"), ("F", "a")),
        (("E", "a"), ("E", "b")),
        (("E", ""), ("", "E")),
        (("E", "v2x"), ("E", "v3x")),
        (("E", "0x1f"), ("E", "5x1f")),
    ],
)
def test_two_groups(one, other):
    assert group(*one).digest != group(*other).digest


def test_a_message_that_says_nothing_takes_the_last_cause():
    stack = "a.B: failed to deserialize\nCaused by: c.D: not a date: 7\nCaused by: e.F: bad digit 7\n"
    assert group("e.F", "failed to deserialize", stack).pattern == "failed to deserialize bad digit <n>"


def test_what_bento_puts_in_front_of_every_message_is_left_out():
    assert group("", "rejecting due to failed processing: failed to reach 10.0.0.7") == group(
        "", "failed to reach 10.0.0.8"
    )


DIGITS = st.text(st.sampled_from("0123456789abcfx@-+.,:TZ _\n"), max_size=60)


@given(st.lists(DIGITS, min_size=1, max_size=4), st.data())
def test_what_is_remembered_without_its_digits_changes_no_pattern(messages, data):
    """A message like one that came before, but for its digits, is not looked at again where no digit stays."""
    for message in messages:
        other = "".join(data.draw(st.sampled_from("0123456789")) if c.isdigit() else c for c in message)
        too_long_to_remember = f"{message:\n<600}"
        assert normalised(other) == normalised(f"{other:\n<600}")
        assert normalised(message) == normalised(too_long_to_remember)


@given(st.text(max_size=300))
def test_never_raises_and_settles(message):
    once = normalised(message)
    assert normalised(once) == once
