"""Source records: rules 1 to 3."""

import pytest

from parking.attempt import ValidationError
from parking.consumer.effect import Effect
from parking.consumer.errors import Poison
from parking.fingerprint import fingerprint
from parking.record import Record
from parking.wire import names
from tests.parking.consumer.service import Log, Service, at, source


def test_an_event_takes_effect_with_its_fate(service: Service, log: Log) -> None:
    service.take(source("e1", 0))
    assert service.effects == [("e1", "e1", 0)]
    assert log.said == []
    with service.ledger.transaction("disputes") as transaction:
        fate = transaction.fate("e1")
    assert fate is not None
    assert (fate.state, fate.token, fate.position, fate.source) == ("applied", 0, None, at(0))
    assert fate.fingerprint == fate.source_fingerprint == fingerprint(b"k", b"e1", (("event-id", b"e1"),))


def test_a_live_success_creates_no_hold_row(service: Service) -> None:
    service.take(source("e1", 0))
    with service.ledger.transaction("disputes") as transaction:
        assert transaction.connection.execute("SELECT count(*) FROM siding_hold").fetchone()[0] == 0


def test_a_redelivered_event_runs_no_handler(service: Service) -> None:
    service.take(source("e1", 0), source("e1", 0))
    assert len(service.seen) == 1
    assert service.applied == ["e1"]


def test_the_same_content_under_the_same_id_is_the_same_event(service: Service, log: Log) -> None:
    """A producer's second try stands elsewhere, and its headers may differ."""
    service.take(source("e1", 0), source("e1", 7, headers=(("try", b"2"),)))
    assert service.applied == ["e1"]
    assert log.said == []


def test_poison_is_parked_with_its_bytes(service: Service, log: Log) -> None:
    service.fails[b"e1"] = Poison("no amount", error_type="NoAmount", evidence={"model": "m1"})
    service.fails[b"e1"].validation_errors = (ValidationError("/amount", "a number", "nothing", "send one"),)
    record = Record(
        "s", 0, 0, 1_000, b"k", b"e1", (("event-id", b"e1"), ("siding-version", b"1"), ("x", None), ("x", b""))
    )
    service.take(record)
    (parked,) = log.announcements
    assert (parked.key, parked.value, parked.headers) == (b"k", b"e1", record.headers)
    assert (parked.kind, parked.flow, parked.consumer_group, parked.event_id) == ("poison", "disputes", "g", "e1")
    assert (parked.source, parked.blocked_by, parked.evidence) == (at(0), None, {"model": "m1"})
    assert parked.fingerprint == fingerprint(record.key, record.value, record.headers)
    (attempt,) = parked.attempts
    assert (attempt.number, attempt.error_type, attempt.message, attempt.retryable) == (
        1,
        "NoAmount",
        "no amount",
        False,
    )
    assert attempt.validation_errors == (ValidationError("/amount", "a number", "nothing", "send one"),)
    assert "parking/consumer" not in attempt.stacktrace.split("tests/")[0]
    assert service.effects == []


def test_later_events_of_the_key_are_held_in_order_and_others_go_on(service: Service, log: Log) -> None:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0), source("e2", 1), source("x1", 2, key=b"other"), source("e3", 3))
    assert log.said == ["poison e1", "held e2", "held e3"]
    assert [parked.blocked_by for parked in log.announcements] == [None, "e1", "e1"]
    first, second, third = (parked.position for parked in log.announcements)
    assert first < second < third
    assert service.applied == ["x1"]
    assert [event.event_id for event in service.seen] == ["e1", "x1"]


def test_positions_are_times_and_only_rise(service: Service, log: Log) -> None:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0))
    before = service.now()
    service.take(source("e2", 1))
    assert log.announcements[0].position < before < log.announcements[1].position


def test_a_failed_event_is_poison_even_where_the_key_was_quarantined_meanwhile(
    service: Service, make_service, log: Log
) -> None:
    """The key has two source partitions: e1 fails while e2's handler runs, and e2 fails as well."""
    other = make_service()
    other.fails[b"e1"] = Poison("no")
    service.fails[b"e2"] = Poison("neither")
    service.meanwhile = lambda event: other.take(source("e1", 0))
    service.take(source("e2", 0, partition=1))
    assert log.said == ["poison e1", "poison e2"]


def test_a_success_is_held_where_the_key_was_quarantined_meanwhile(service: Service, make_service, log: Log) -> None:
    other = make_service()
    other.fails[b"e1"] = Poison("no")
    service.meanwhile = lambda event: other.take(source("e1", 0))
    service.take(source("e2", 0, partition=1))
    assert log.said == ["poison e1", "held e2"]
    assert service.effects == []


def test_a_business_write_that_fails_takes_its_fate_with_it(service: Service, log: Log) -> None:
    def write_twice(connection):
        service.write(service.seen[-1])(connection)
        raise ValueError("a constraint of the service")

    service.returns(Effect(write_twice))
    service.take(source("e1", 0))
    assert service.effects == []
    assert log.said == ["poison e1"]
    assert [a.number for a in log.announcements[0].attempts] == [1, 2, 3]


@pytest.mark.parametrize("key", [None, b""])
def test_null_keys_are_held_alone_and_empty_ones_together(service: Service, log: Log, key: bytes | None) -> None:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0, key=key), source("e2", 1, key=key))
    assert log.said == (["poison e1"] if key is None else ["poison e1", "held e2"])


def test_an_event_without_an_id_is_called_by_its_coordinates(service: Service) -> None:
    service.take(source("v", 4, event_id=""))
    assert service.applied == ["s/0/4@1004"]


def test_a_record_that_could_not_be_read_whole_is_poison(service: Service, log: Log) -> None:
    service.take(Record("s", 0, 0, 1_000, b"k", b"v", fault="the headers cannot be read"))
    (parked,) = log.announcements
    assert (parked.kind, parked.value, parked.attempts[0].error_type) == ("poison", b"v", "unreadable")
    assert service.seen == []


def test_evidence_of_a_success_is_kept(service: Service, log: Log) -> None:
    service.returns(Effect(evidence={"model": "m2"}))
    service.take(source("e1", 0))
    with service.ledger.transaction("disputes") as transaction:
        fate = transaction.fate("e1")
    assert fate is not None
    assert fate.evidence == b'{"model":"m2"}'
    assert fate.kind is None
    assert names.POISON not in log.said
