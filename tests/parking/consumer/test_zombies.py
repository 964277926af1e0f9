"""Handlers that outlive what allowed them to run: a token, a partition, a plan. None can change anything."""

import pytest

from parking.consumer.errors import Poison
from parking.wire import Announcement
from tests.parking.consumer.service import Log, Service, source


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1))
    service.fails.clear()
    return log.announcements


def test_a_handler_that_outlives_its_token_is_fenced(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    """While the handler of token 10 runs, the event fails under token 11."""
    other = make_service()
    other.fails[b"e1"] = Poison("still no")
    service.meanwhile = lambda event: other.apply(parked[0], 11)
    service.apply(parked[0], 10)
    assert log.said[2:] == ["failed e1", "fenced e1"]
    assert log.outcome.floor == 12
    assert service.effects == []


def test_its_failure_counts_no_more_than_its_success(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    other = make_service()
    service.fails[b"e1"] = Poison("no, under an old token")
    service.meanwhile = lambda event: other.apply(parked[0], 11)
    service.apply(parked[0], 10)
    assert log.said[2:] == ["applied e1", "applied e1"]
    assert service.effects == [("e1", "e1", 11)]


def test_a_newer_plan_that_skipped_the_event_wins(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    other = make_service()
    service.meanwhile = lambda event: other.skip(parked[0], 11)
    service.apply(parked[0], 10)
    assert log.said[2:] == ["skipped e1", "skipped e1"]
    assert (log.outcome.token, log.outcome.fate_token) == (10, 11)
    assert service.effects == []


def test_after_a_rebalance_both_owners_handle_the_event_and_one_takes_effect(
    service: Service, make_service, log: Log
) -> None:
    new = make_service()
    service.meanwhile = lambda event: new.take(source("e1", 0))
    service.take(source("e1", 0))
    assert len(service.seen) == len(new.seen) == 1
    assert service.effects == [("e1", "e1", 0)]
    assert log.said == []


def test_an_old_owner_that_fails_after_the_new_one_succeeded_parks_nothing(
    service: Service, make_service, log: Log
) -> None:
    new = make_service()
    service.fails[b"e1"] = Poison("no")
    service.meanwhile = lambda event: new.take(source("e1", 0), source("e2", 1))
    service.take(source("e1", 0))
    assert log.said == []
    assert service.applied == ["e1", "e2"]


def test_an_old_owner_that_succeeds_after_the_new_one_parked_applies_nothing(
    service: Service, make_service, log: Log
) -> None:
    new = make_service()
    new.fails[b"e1"] = Poison("no")
    service.meanwhile = lambda event: new.take(source("e1", 0), source("e2", 1))
    service.take(source("e1", 0))
    assert log.said == ["poison e1", "held e2"]
    assert service.effects == []


def test_a_live_handler_that_outlives_the_whole_quarantine_finds_the_fact(
    service: Service, make_service, log: Log
) -> None:
    """The new owner parked the event, a plan applied it and the key was released: then the old handler ends."""
    new = make_service()
    new.fails[b"e1"] = Poison("no")

    def meanwhile(event) -> None:
        new.take(source("e1", 0))
        new.fails.clear()
        new.apply(log.announcements[0], 10)
        new.release(10)

    service.meanwhile = meanwhile
    service.take(source("e1", 0))
    assert log.said == ["poison e1", "applied e1", "released"]
    assert service.effects == [("e1", "e1", 10)]


def test_two_owners_of_the_replay_partition_apply_once(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    new = make_service()
    service.meanwhile = lambda event: new.apply(parked[0], 10)
    service.apply(parked[0], 10)
    assert log.said[2:] == ["applied e1", "applied e1"]
    assert service.effects == [("e1", "e1", 10)]
