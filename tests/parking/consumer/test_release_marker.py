"""The release marker."""

import pytest

from parking.consumer.errors import Poison
from parking.wire import Announcement
from tests.parking.consumer.service import Log, Service, at, source


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1))
    service.fails.clear()
    return log.announcements


def test_a_key_opens_when_all_is_settled_and_live_events_flow_again(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    service.skip(parked[0], 10)
    service.apply(parked[1], 10)
    service.release(10)
    service.take(source("e3", 2))
    assert log.said[2:] == ["skipped e1", "applied e2", "released"]
    assert log.outcome.position == parked[1].position + 1
    assert log.outcome.floor == 11
    assert service.effects == [("e2", "e2", 10), ("e3", "e3", 0)]


@pytest.mark.slow
def test_it_stays_closed_while_something_is_held(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.apply(parked[0], 10)
    service.release(10)
    service.take(source("e3", 2))
    assert log.said[2:] == ["applied e1", "still-held", "held e3"]
    answer = log.outcomes[-1]
    assert (answer.held_count, answer.event_id, answer.position) == (1, None, None)
    (held,) = answer.still_held
    assert (held.event_id, held.position, held.kind, held.source) == ("e2", parked[1].position, "held", at(1))


def test_still_held_raises_the_floor(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.release(10)
    service.apply(parked[0], 9)
    assert log.said[2:] == ["still-held", "fenced e1"]


def test_the_same_marker_again_gets_the_same_answer_even_when_the_key_is_closed_again(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    for event in parked:
        service.skip(event, 10)
    service.release(10)
    service.fails[b"e3"] = Poison("no")
    service.take(source("e3", 2))
    service.release(10)
    first, again = (outcome for outcome in log.outcomes if outcome.outcome == "released")
    assert first.position == again.position
    assert again.position is not None
    assert again.position <= log.announcements[-1].position, "it does not speak of the newer quarantine"


def test_an_older_marker_is_fenced(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.skip(parked[0], 10)
    service.skip(parked[1], 10)
    service.release(9)
    assert log.said[-1] == "fenced"
    assert log.outcome.floor == 10


def test_a_key_that_is_not_quarantined_is_released(service: Service, log: Log) -> None:
    service.release(10)
    assert (log.outcome.outcome, log.outcome.position) == ("released", 0)


def test_after_a_release_no_old_plan_acts_on_the_next_quarantine(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    for event in parked:
        service.skip(event, 10)
    service.release(10)
    service.fails[b"e3"] = Poison("no")
    service.take(source("e3", 2))
    service.apply(log.announcements[-1], 10)
    assert log.said[-1] == "fenced e3"


def test_the_count_is_exact_and_the_first_that_fit_are_named(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    service.take(*(source("é" * 200 + str(n), n) for n in range(2, 160)))
    service.release(10)
    answer = log.outcome
    assert answer.held_count == 160
    assert 20 < len(answer.still_held) < 100
    assert [held.event_id for held in answer.still_held[:2]] == ["e1", "e2"]
    assert answer.still_held[0].kind == "poison"


def test_a_key_that_fails_again_after_its_release_is_a_new_quarantine(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    for event in parked:
        service.skip(event, 10)
    service.release(10)
    released = log.outcome.position
    assert released is not None
    service.fails[b"e3"] = Poison("no")
    service.take(source("e3", 2), source("e4", 3))
    assert log.said[-2:] == ["poison e3", "held e4"]
    assert log.announcements[-1].blocked_by == "e3"
    assert log.announcements[-2].position >= released
