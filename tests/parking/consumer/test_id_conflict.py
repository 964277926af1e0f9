"""The same event id with other content is another event, and poison."""

from dataclasses import replace

from parking.consumer.errors import Poison
from tests.parking.consumer.service import FLOW, Log, Service, at, command, source


def test_other_content_under_a_known_id_is_parked_under_an_id_of_its_own(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("three", 2))
    (conflict, held) = log.announcements
    assert (conflict.kind, conflict.event_id, conflict.value) == ("poison", "e1#s/0/1@1001", b"two")
    assert conflict.attempts[0].error_type == "id-conflict"
    assert conflict.attempts[0].retryable is False
    assert (held.kind, held.blocked_by) == ("held", "e1#s/0/1@1001")
    assert service.effects == [("e1", "one", 0)]


def test_the_conflicting_event_again_is_known(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("two", 1, event_id="e1"))
    assert log.said == ["poison e1#s/0/1@1001"]


def test_a_third_content_is_a_third_event(service: Service, log: Log) -> None:
    service.take(*(source(value, n, event_id="e1") for n, value in enumerate(["one", "two", "three"])))
    assert log.said == ["poison e1#s/0/1@1001", "poison e1#s/0/2@1002"]


def test_the_same_coordinates_in_a_topic_that_was_created_anew_are_another_event(service: Service, log: Log) -> None:
    """The timestamp tells them apart; without an id of their own both are called by coordinates that differ."""
    service.take(source("one", 0, event_id="e1"), replace(source("two", 0, event_id="e1"), timestamp_ms=9_000))
    assert log.said == ["poison e1#s/0/0@9000"]


def test_a_conflict_with_a_held_event_keeps_both(service: Service, log: Log) -> None:
    service.fails[b"one"] = Poison("no")
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"))
    assert log.said == ["poison e1", "poison e1#s/0/1@1001"]


def test_where_the_hold_key_is_the_id_it_is_computed_anew(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, promise="independent"))
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("fine", 2))
    assert log.said == ["poison e1#s/0/1@1001"]
    assert [hold_key for hold_key, _ in log.wires] == [b"e1#s/0/1@1001"]
    assert service.applied == ["e1", "fine"]


def test_a_conflicting_event_is_replayed_under_its_own_id(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"))
    service.take(command("apply", log.announcements[0], 10))
    service.release(10)
    assert service.effects == [("e1", "one", 0), ("e1#s/0/1@1001", "two", 10)]
    assert log.said[-1] == "released"
    assert service.seen[-1].source == at(1)


def test_an_id_of_more_than_a_kibibyte_is_a_digest_in_both_forms(service: Service, log: Log) -> None:
    service.take(
        source("one", 0, event_id="x" * 1025),
        source("one", 1, event_id="y" * 1020),
        source("two", 2, event_id="y" * 1020),
    )
    first, second = service.applied
    assert first.startswith("sha256:")
    assert second == "y" * 1020
    assert log.announcements[0].event_id.startswith("sha256:")


def test_a_conflict_is_found_at_the_commit_gate_too(service: Service, make_service, log: Log) -> None:
    """The other event took effect while this one's handler ran."""
    other = make_service()
    service.meanwhile = lambda event: other.take(source("two", 1, event_id="e1"))
    service.take(source("one", 0, event_id="e1"))
    assert log.said == ["poison e1#s/0/0@1000"]
    assert service.effects == [("e1", "two", 0)]


def test_a_conflict_is_found_when_the_failure_is_committed(service: Service, make_service, log: Log) -> None:
    other = make_service()
    service.fails[b"one"] = Poison("no")
    service.meanwhile = lambda event: other.take(source("two", 1, event_id="e1"))
    service.take(source("one", 0, event_id="e1"))
    assert log.said == ["poison e1#s/0/0@1000"]
    assert log.announcements[0].attempts[0].error_type == "id-conflict"
