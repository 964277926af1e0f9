"""When a rule would have fired over the last 7 days: the values of past minutes, and the same transitions."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from parking.alarms.past import past
from parking.alarms.preview import Firing, firings
from parking.alarms.transition import Thresholds
from parking.models import EventState, Flow, Rollup
from tests import alarm_story
from tests.console.story import Lot, make_flow

MINUTE, HALF = timedelta(minutes=1), timedelta(seconds=30)
BEGIN = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)


def each_minute(*values: int) -> list[tuple[datetime, int]]:
    return [(BEGIN + at * MINUTE, value) for at, value in enumerate(values)]


def at(minute: int) -> datetime:
    return BEGIN + minute * MINUTE


@pytest.mark.parametrize(
    ("thresholds", "values", "fired"),
    [
        (Thresholds(3, 0, 1, 0), (0, 2, 2), []),
        (Thresholds(3, 0, 1, 0), (0, 3, 5, 1, 0), [Firing(at(1), at(3), 5)]),
        (Thresholds(3, 0, 1, 0), (3, 2, 3, 2), [Firing(at(0), None, 3)]),  # it swings and rings once
        (Thresholds(3, 0, 1, 0), (3, 0, 4, 0), [Firing(at(0), at(1), 3), Firing(at(2), at(3), 4)]),
        (Thresholds(3, 120, 1, 0), (3, 3, 0, 3, 3, 3, 3, 0), [Firing(at(5), at(7), 3)]),
        (Thresholds(3, 0, 1, 120), (3, 1, 1, 3, 1, 1, 1), [Firing(at(0), at(6), 3)]),
    ],
)
def test_it_fires_as_the_alarm_does(thresholds, values, fired):
    assert firings(thresholds, each_minute(*values)) == fired


@pytest.fixture
def flow(db, kafka) -> Flow:
    return make_flow("disputes", bootstrap=kafka)


def test_depth_and_age_of_each_minute(flow):
    """Two keys stop half past 9:01 and 9:03, with 2 and 1 events; the first is settled half past 9:06."""
    lot = Lot(flow)
    with time_machine.travel(at(1) + HALF, tick=False):
        first = alarm_story.stop(lot, waiting=2, ago=3)
    with time_machine.travel(at(3) + HALF, tick=False):
        alarm_story.stop(lot, ago=3)
    with time_machine.travel(at(6) + HALF, tick=False):
        alarm_story.settle(lot, first, "applied", "applied")
    then = past(flow, at(8) + timedelta(seconds=20))
    depth, age = dict(then.depth), dict(then.age)
    assert [depth[at(minute)] for minute in range(9)] == [0, 2, 2, 3, 3, 3, 1, 1, 1]
    assert [age[at(minute)] // 60 for minute in range(9)] == [0, 0, 1, 2, 3, 4, 3, 4, 5]
    assert (then.since, then.whole) == (at(8) - timedelta(days=7), True)
    assert len(then.depth) == len(then.age) == 7 * 24 * 60 + 1


def test_it_says_nothing_of_the_time_before_payloads_were_scrubbed(flow):
    Flow.objects.filter(pk=flow.pk).update(payload_days=2)
    flow.refresh_from_db()
    then = past(flow, at(0))
    assert (then.since, then.whole) == (at(0) - timedelta(days=2), False)


def test_it_looks_at_a_bounded_number_of_events(flow, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr("parking.alarms.past.MOST", 3)
    lot = Lot(flow)
    for minute in (1, 2, 3, 4):
        with time_machine.travel(at(minute), tick=False):
            alarm_story.settle(lot, alarm_story.stop(lot, ago=0), "applied")
    with django_assert_num_queries(4):
        then = past(flow, at(9))
    assert (then.since, then.whole) == (at(3), False)  # of 9:02 it saw a part at most


def test_a_flow_with_other_flows_beside_it(flow, kafka):
    other = make_flow("crm-sync", "Sales systems", bootstrap=kafka)
    alarm_story.stop(Lot(other), waiting=5)
    Rollup.objects.filter(flow=flow).delete()
    assert {value for _, value in past(flow, timezone.now()).depth} == {0}
    assert EventState.objects.filter(flow=other).count() == 5
