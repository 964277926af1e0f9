"""A token only grows, also across a restore of our own database."""

from hypothesis import given
from hypothesis import strategies as st

from replay.token import following

numbers = st.integers(min_value=0, max_value=2**62)


@given(last=numbers, now=numbers, floor=numbers)
def test_it_exceeds_everything_that_was_ever_given_or_answered(last, now, floor):
    token = following(last, now_ms=now, highest_floor=floor)
    assert token > last
    assert token > floor
    assert token >= now


def test_after_a_restore_the_clock_carries_it_past_what_was_forgotten():
    given_before_the_restore = following(0, now_ms=1_000_000, highest_floor=0)
    assert following(0, now_ms=1_000_500, highest_floor=0) > given_before_the_restore
