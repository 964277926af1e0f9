"""The process dies at each point between looking and moving on. Nothing is lost, nothing happens twice."""

import pytest

from parking.consumer.errors import Poison
from parking.wire import Announcement
from tests.parking.consumer.service import Crash, Log, Service, source


def dies(log: Log, when: str, act) -> None:
    log.dies = when
    with pytest.raises(Crash):
        act()
    log.dies = ""


@pytest.mark.parametrize("when", ["before", "after"])
def test_between_commit_and_publish_and_between_publish_and_offset(
    service: Service, make_service, log: Log, when: str
) -> None:
    """The record comes again, finds the decision and gets the same answer; the handler does not run."""
    service.fails[b"e1"] = Poison("no")
    dies(log, when, lambda: service.take(source("e1", 0)))
    again = make_service()
    again.take(source("e1", 0), source("e2", 1))
    assert again.seen == []
    assert log.said == (["poison e1"] if when == "before" else ["poison e1", "poison e1"]) + ["held e2"]
    assert len({parked.position for parked in log.announcements if parked.event_id == "e1"}) == 1
    assert again.due == 0


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_outbox_is_published_at_start_though_the_source_is_never_read_again(
    service: Service, make_service, log: Log, when: str
) -> None:
    """The partition went to nobody, or its retention passed."""
    service.fails[b"e1"] = service.fails[b"x1"] = Poison("no")
    dies(log, when, lambda: service.take(source("e1", 0)))
    dies(log, when, lambda: service.take(source("x1", 1, key=b"other")))
    before = len(log.wires)
    assert make_service().outbox.publish() == 2
    assert log.said[before:] == ["poison e1", "poison x1"]
    assert service.due == 0


def test_the_outbox_keeps_its_order_per_key(service: Service, make_service, log: Log) -> None:
    service.fails[b"e1"] = Poison("no")
    dies(log, "before", lambda: service.take(source("e1", 0)))
    other = make_service()
    dies(log, "before", lambda: other.take(source("e2", 0, partition=1)))
    make_service().take(source("e3", 1, partition=1))
    assert log.said == ["poison e1", "held e2", "held e3"]


def test_a_live_success_that_dies_before_the_offset_moves_is_not_repeated(service: Service, make_service) -> None:
    service.take(source("e1", 0))  # and the process dies before its offset is committed
    again = make_service()
    again.take(source("e1", 0))
    assert again.seen == []
    assert again.applied == ["e1"]


def test_a_crash_inside_the_transaction_leaves_nothing(service: Service, make_service, log: Log) -> None:
    def write(connection):
        service.write(service.seen[-1])(connection)
        raise Crash

    service.returns(write)
    with pytest.raises(Crash):
        service.take(source("e1", 0))
    assert service.effects == []
    make_service().take(source("e1", 0))
    assert service.applied == ["e1"]


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1))
    service.fails.clear()
    return log.announcements


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["apply", "skip"])
def test_a_replayed_event(make_service, log: Log, parked: list[Announcement], when: str, how: str) -> None:
    service = make_service()
    dies(log, when, lambda: getattr(service, how)(parked[0], 10))
    again = make_service()
    getattr(again, how)(parked[0], 10)
    fact = "applied e1" if how == "apply" else "skipped e1"
    # the outbox and the record that came again each bring the answer: at least once, and the same each time
    assert log.said[2:] == [fact] * len(log.said[2:])
    assert len(log.said[2:]) >= 2
    assert again.seen == []
    assert service.applied == (["e1"] if how == "apply" else [])
    assert {(o.fate_token, o.fingerprint) for o in log.outcomes} == {(10, parked[0].fingerprint)}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_failed_replay(service: Service, make_service, log: Log, parked: list[Announcement], when: str) -> None:
    service.fails[b"e1"] = Poison("still no")
    dies(log, when, lambda: service.apply(parked[0], 10))
    again = make_service()
    again.apply(parked[0], 10)
    assert again.seen == [], "a failure under a token is not tried again under it"
    assert set(log.said[2:]) == {"failed e1"}
    assert all(o.attempts == log.outcomes[0].attempts for o in log.outcomes)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_release(service: Service, make_service, log: Log, parked: list[Announcement], when: str) -> None:
    service.skip(parked[0], 10)
    service.skip(parked[1], 10)
    dies(log, when, lambda: service.release(10))
    again = make_service()
    again.release(10)
    released = [o for o in log.outcomes if o.outcome == "released"]
    assert len(released) >= 2
    assert len({o.position for o in released}) == 1
    again.take(source("e3", 2))
    assert again.applied == ["e3"]


def test_an_event_that_arrives_after_a_crashed_release_flows(
    service: Service, make_service, log: Log, parked: list[Announcement]
) -> None:
    service.skip(parked[0], 10)
    service.skip(parked[1], 10)
    dies(log, "before", lambda: service.release(10))
    other = make_service()
    other.take(source("e3", 2))
    assert other.applied == ["e3"]
    other.outbox.publish()
    assert log.said[-1] == "released"
