"""When a rule fires and when it is over, with a clock of our own."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from parking.alarms.transition import Standing, Thresholds, Transition, step

START = datetime(2026, 11, 30, tzinfo=UTC)
QUIET = Standing(firing=False)


def run(thresholds, values, *, every=60, fresh=True):
    """The transitions that a series of readings causes, with the second of each."""
    standing, seen = QUIET, []
    for number, value in enumerate(values):
        now = START + timedelta(seconds=number * every)
        standing, transition = step(thresholds, standing, value, fresh=fresh, now=now)
        if transition:
            seen.append((number * every, transition))
    return seen


def test_fires_at_the_threshold_and_not_below():
    at_once = Thresholds(100, 0, 80, 0)
    assert run(at_once, [99]) == []
    assert run(at_once, [100]) == [(0, Transition.OPEN)]


def test_fires_only_when_it_lasts():
    lasting = Thresholds(100, 120, 80, 0)
    assert run(lasting, [100, 100]) == []
    assert run(lasting, [100, 100, 100]) == [(120, Transition.OPEN)]
    assert run(lasting, [100, 100, 10, 100, 100]) == []


def test_is_over_only_when_it_has_been_down_for_long_enough():
    thresholds = Thresholds(100, 0, 80, 120)
    assert run(thresholds, [100, 81, 81, 81]) == [(0, Transition.OPEN)]
    assert run(thresholds, [100, 80, 80, 80]) == [(0, Transition.OPEN), (180, Transition.RESOLVE)]
    assert run(thresholds, [100, 80, 90, 80, 80]) == [(0, Transition.OPEN)]


def test_alm_10_a_value_that_swings_around_the_threshold_for_an_hour_tells_at_most_twice():
    swinging = [99, 101] * 30
    assert run(Thresholds(100, 0, 80, 0), swinging) == [(60, Transition.OPEN)]
    # even where the owner left no room between the two thresholds, the time that it has to be down does it
    assert run(Thresholds(100, 0, 99, 300), swinging) == [(60, Transition.OPEN)]
    assert len(run(Thresholds(100, 60, 80, 300), swinging)) <= 2


def test_a_value_that_hovers_around_the_threshold_is_not_overlooked_by_the_for_duration():
    assert run(Thresholds(100, 300, 80, 0), [99, 101] * 30) == [(420, Transition.OPEN)]


def test_alm_02_no_data_is_not_a_recovery():
    standing = Standing(True, START, None)
    for minutes in range(600):
        now = START + timedelta(minutes=minutes)
        standing, transition = step(Thresholds(40, 0, 10, 0), standing, 0, fresh=False, now=now)
        assert transition is None
    assert standing.cleared_since is None


def test_the_time_that_it_has_been_down_begins_when_there_are_data_again():
    thresholds = Thresholds(40, 0, 10, 120)
    standing, _ = step(thresholds, Standing(True, START), 0, fresh=False, now=START)
    standing, _ = step(thresholds, standing, 0, fresh=True, now=START + timedelta(seconds=600))
    _, transition = step(thresholds, standing, 0, fresh=True, now=START + timedelta(seconds=660))
    assert transition is None


def test_a_breach_is_seen_even_without_fresh_data():
    assert run(Thresholds(100, 0, 80, 0), [100], fresh=False) == [(0, Transition.OPEN)]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=60),
    st.integers(1, 10),
    st.integers(0, 300),
    st.integers(0, 300),
)
def test_openings_and_resolutions_alternate_and_each_has_its_reason(readings, threshold, lasts, down):
    thresholds = Thresholds(threshold, lasts, threshold - 1, down)
    standing, last = QUIET, Transition.RESOLVE
    for number, (value, fresh) in enumerate(readings):
        before = standing
        now = START + timedelta(seconds=60 * number)
        standing, transition = step(thresholds, before, value, fresh=fresh, now=now)
        if transition is None:
            assert standing.firing == before.firing
            continue
        assert transition is not last
        assert value >= threshold if transition is Transition.OPEN else (fresh and value < threshold)
        last = transition
