"""Replay records: rules 2 to 7. Rule 1 is in test_refused.py."""

from dataclasses import replace

import pytest

from parking.consumer.effect import Effect
from parking.consumer.errors import Poison
from parking.fingerprint import fingerprint
from parking.wire import Announcement, names
from tests.parking.consumer.service import FLOW, Log, Service, command, source


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    """e1 is poison, e2 and e3 are held behind it; the cause of e1's failure is gone."""
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1), source("e3", 2))
    service.fails.clear()
    return log.announcements


def test_events_are_applied_in_order_and_the_facts_are_told(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    for event in parked:
        service.apply(event, 10)
    assert service.effects == [("e1", "e1", 10), ("e2", "e2", 10), ("e3", "e3", 10)]
    assert log.said[3:] == ["applied e1", "applied e2", "applied e3"]
    first = log.outcomes[0]
    assert (first.token, first.fate_token, first.replay_id, first.hold_key) == (10, 10, "replay", b"k")
    assert (first.fingerprint, first.position, first.source) == (
        parked[0].fingerprint,
        parked[0].position,
        parked[0].source,
    )


def test_the_handler_sees_the_source_and_the_token(service: Service, parked: list[Announcement]) -> None:
    service.apply(parked[0], 10)
    event = service.seen[-1]
    assert (event.token, event.replay_id, event.source, event.attempt) == (10, "replay", parked[0].source, 2)


def test_an_amended_event_is_applied_as_it_was_sent(service: Service, log: Log, parked: list[Announcement]) -> None:
    new = fingerprint(b"k", b"better", ())
    service.apply(parked[0], 10, value=b"better", headers=(), fingerprint=new)
    assert service.effects == [("e1", "better", 10)]
    assert log.outcome.fingerprint == new


def test_a_skipped_event_never_comes_back(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.skip(parked[0], 10)
    service.apply(parked[0], 11)
    service.take(source("e1", 0))
    assert log.said[3:] == ["skipped e1", "skipped e1"]
    assert (log.outcome.token, log.outcome.fate_token) == (11, 10)
    assert log.outcome.fingerprint == parked[0].fingerprint
    assert service.effects == []


def test_rule_2_a_settled_event_is_answered_by_the_fact(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.apply(parked[0], 10)
    service.apply(parked[0], 10)
    service.apply(parked[0], 3)  # an old plan's record gets the fact as well, not `fenced`
    assert log.said[3:] == ["applied e1"] * 3
    assert (log.outcome.token, log.outcome.fate_token) == (3, 10)
    assert service.applied == ["e1"]


def test_rule_2_a_live_success_is_a_fact_of_token_0(service: Service, log: Log) -> None:
    service.take(source("e1", 0))
    parked = Announcement("held", "disputes", "e1", 1, bytes(32), source("e1", 0).coordinates, b"k", b"e1")
    service.skip(parked, 10)
    assert log.said == ["applied e1"]
    assert log.outcome.fate_token == 0


def test_rule_3_the_latest_failure_under_a_token_is_told_again(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    service.fails[b"e1"] = Poison("still no", evidence={"model": "m3"})
    service.apply(parked[0], 10)
    service.fails.clear()
    service.apply(parked[0], 10)
    assert log.said[3:] == ["failed e1", "failed e1"]
    assert log.outcomes[0].attempts == log.outcomes[1].attempts
    assert [a.number for a in log.outcome.attempts] == [2]
    assert log.outcome.evidence == {"model": "m3"}
    assert service.effects == []


def test_a_failure_kills_the_token(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.fails[b"e1"] = Poison("still no")
    service.apply(parked[0], 10)
    service.fails.clear()
    service.apply(parked[1], 10)
    assert log.said[3:] == ["failed e1", "fenced e2"]
    assert log.outcome.floor == 11
    service.apply(parked[0], 11)
    assert log.said[-1] == "applied e1"


def test_attempts_are_exhausted_as_in_live_traffic(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.fails[b"e1"] = ValueError("now and then")
    service.apply(parked[0], 10)
    assert [a.number for a in log.outcome.attempts] == [2, 3, 4]
    assert all(a.retryable for a in log.outcome.attempts)
    assert service.waited == [0.5, 1.0]


def test_rule_4_an_older_token_is_fenced(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.apply(parked[0], 10)
    service.apply(parked[1], 9)
    service.skip(parked[1], 9)
    assert log.said[3:] == ["applied e1", "fenced e2", "fenced e2"]
    assert log.outcome.floor == 10


def test_the_floor_rises_when_the_handler_starts(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    """Nothing of an old plan acts once the consumer has seen a newer token, though its handler still runs."""
    other = make_service()
    service.meanwhile = lambda event: other.skip(parked[0], 9)
    service.apply(parked[0], 10)
    assert log.said[3:] == ["fenced e1", "applied e1"]


def test_rule_5_not_held(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.take(source("x1", 5, key=b"other"))
    stranger = Announcement(
        "held", "disputes", "e9", 1, parked[0].fingerprint, parked[0].source, b"k", b"e1", parked[0].headers
    )
    service.apply(stranger, 10)
    assert log.said[-1] == "not-held e9"


def test_rule_5_an_event_of_another_key_is_not_held(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.fails[b"x1"] = Poison("no")
    service.take(source("x1", 5, key=b"other"))
    foreign = log.announcements[-1]
    service.apply(foreign, 10, key=b"k", fingerprint=fingerprint(b"k", b"x1", foreign.headers))
    assert log.said[-1] == "not-held x1"


def test_rule_6_only_the_first_held_event_may_act(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.apply(parked[1], 10)
    service.skip(parked[2], 10)
    assert log.said[3:] == ["out-of-order e2", "out-of-order e3"]
    assert log.outcome.first_held == "e1"
    assert service.effects == []


def test_evidence_goes_out_with_the_fact_and_again(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.returns(Effect(evidence={"model": "m1"}))
    service.apply(parked[0], 10)
    service.apply(parked[0], 10)
    assert [outcome.evidence for outcome in log.outcomes] == [{"model": "m1"}] * 2


def test_a_business_write_that_fails_in_a_replay_leaves_nothing(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    def write(connection):
        service.write(service.seen[-1])(connection)
        raise Poison("the account is closed")

    service.returns(write)
    service.apply(parked[0], 10)
    assert log.said[-1] == "failed e1"
    assert service.effects == []


def test_a_pipelined_window_behind_a_failure_changes_nothing(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    service.fails[b"e2"] = Poison("no")
    for event in parked:
        service.apply(event, 10)
    service.release(10)
    assert log.said[3:] == ["applied e1", "failed e2", "fenced e3", "fenced"]
    assert service.applied == ["e1"]


def test_an_event_of_an_independent_flow_is_released_by_itself(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, promise="independent"))
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1))
    service.fails.clear()
    service.take(command(names.APPLY, log.announcements[0], 10, hold_key=b"e1"))
    service.release(10, hold_key=b"e1")
    assert log.said == ["poison e1", "applied e1", "released"]
    assert service.applied == ["e2", "e1"]
