"""Old fates are forgotten, but none that a record could still meet."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.purge import DAY_MS, SKEW_MS, forget, oldest_record, purge
from parking.consumer.purger import Purge, Purger
from parking.record import Record
from parking.wire import Command, names
from tests.parking.consumer.service import FLOW, Log, Service, sent, source
from tests.waiting import wait_until

NOW = 2_000_000
"""Later than all that a service of these tests decides."""


def known(ledger: Ledger) -> list[str]:
    with ledger.transaction("", write=False) as transaction:
        rows = transaction.connection.execute("SELECT event_id FROM siding_fate").fetchall()
    return sorted(bytes(row[0]).decode() for row in rows)


def keys(ledger: Ledger) -> list[bytes]:
    with ledger.transaction("", write=False) as transaction:
        rows = transaction.connection.execute("SELECT hold_key FROM siding_hold").fetchall()
    return sorted(bytes(row[0]) for row in rows)


def test_settled_and_old_is_forgotten(service: Service, log: Log) -> None:
    service.take(source("e1", 0))
    edge = service.now()
    service.take(source("e2", 1))
    assert forget(FLOW.name, service.ledger, before=edge) == 1
    assert known(service.ledger) == ["e2"]


def test_more_than_one_window(service: Service) -> None:
    with service.ledger.transaction(FLOW.name) as transaction:
        for n in range(2_500):
            event = service.gate._source._sighting(source(f"e{n}", n), f"e{n}").fate
            transaction.insert_fate_if_open(replace(event, state="applied", fingerprint=b"f"))
    assert forget(FLOW.name, service.ledger, before=NOW) == 2_500
    assert known(service.ledger) == []


def test_nothing_of_a_quarantined_key_is_forgotten(service: Service, log: Log) -> None:
    service.take(source("e0", 0))
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 1), source("e2", 2))
    service.fails.clear()
    service.skip(log.announcements[0], 10)
    assert forget(FLOW.name, service.ledger, before=NOW) == 0
    assert (known(service.ledger), keys(service.ledger)) == (["e0", "e1", "e2"], [b"k"])
    service.apply(log.announcements[1], 10)
    service.release(10)
    assert forget(FLOW.name, service.ledger, before=NOW) == 3
    assert (known(service.ledger), keys(service.ledger)) == ([], [])


def test_the_fate_of_a_base_id_outlives_those_derived_from_it(service: Service, log: Log) -> None:
    """Without it the next one that wears the id would be taken for the first."""
    service.take(source("e1", 0), source("another", 1, event_id="e1"))
    derived = log.announcements[0]
    edge = service.now()
    service.skip(derived, 10)
    service.release(10)
    assert forget(FLOW.name, service.ledger, before=edge) == 0
    assert len(known(service.ledger)) == 2
    assert forget(FLOW.name, service.ledger, before=NOW) == 1, "first the derived one"
    assert known(service.ledger) == ["e1"]
    assert forget(FLOW.name, service.ledger, before=NOW) == 1
    assert known(service.ledger) == []


def test_a_key_stays_while_its_old_plans_may_arrive(service: Service, log: Log) -> None:
    token = NOW + 5
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0))
    service.skip(log.announcements[0], token)
    service.release(token)
    forget(FLOW.name, service.ledger, before=token)
    assert (known(service.ledger), keys(service.ledger)) == ([], [b"k"])
    forget(FLOW.name, service.ledger, before=token + 2)
    assert keys(service.ledger) == []


def test_a_key_that_was_forgotten_is_released_where_it_was(service: Service, log: Log) -> None:
    """A marker asks for it again, as its answer was lost: a position of 0 would say that this ledger was lost."""
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0))
    service.skip(log.announcements[0], 10)
    service.release(10)
    forget(FLOW.name, service.ledger, before=NOW)
    assert keys(service.ledger) == []
    service.release(11)
    said = log.outcome
    assert (said.outcome, said.token) == ("released", 11)
    assert (said.position or 0) > log.announcements[0].position
    forget(FLOW.name, service.ledger, before=NOW)
    service.release(12)
    assert log.outcome.position == said.position, "a key of which nothing was held moves nothing"


def test_a_key_that_comes_back_goes_on_behind_what_was_forgotten(service: Service, log: Log) -> None:
    service.fails |= {b"e1": ValueError("no"), b"e2": ValueError("no")}
    service.take(source("e1", 0))
    service.skip(log.announcements[0], 10)
    service.release(10)
    before = log.outcome.position
    forget(FLOW.name, service.ledger, before=NOW)
    service.take(source("e2", 1))
    assert log.announcements[1].position >= (before or 0)


def test_a_ledger_that_was_lost_says_so(service: Service, log: Log) -> None:
    """Nothing was ever forgotten there."""
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0))
    with service.ledger.transaction("") as transaction:
        for table in ("siding_hold", "siding_fate"):
            transaction.execute(f"DELETE FROM {table}", {})
    forget(FLOW.name, service.ledger, before=NOW)
    service.release(10)
    assert (log.outcome.outcome, log.outcome.position) == ("released", 0)


def test_what_is_still_to_be_published_keeps_its_key(service: Service, log: Log) -> None:
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0))
    service.skip(log.announcements[0], 10)
    service.gate.begin(_marker(10))
    assert service.due == 1
    forget(FLOW.name, service.ledger, before=NOW)
    assert keys(service.ledger) == [b"k"]


def test_tries_that_were_begun_long_ago_are_forgotten(service: Service) -> None:
    begun = "INSERT INTO siding_begun (flow, id_digest, token, begun, at) VALUES (:flow, :digest, 0, 1, :at)"
    with service.ledger.transaction(FLOW.name) as transaction:
        for at in (NOW - 1, NOW):
            transaction.execute(begun, {"flow": FLOW.name, "digest": b"%d" % at, "at": at})
    forget(FLOW.name, service.ledger, before=NOW)
    with service.ledger.transaction(FLOW.name) as transaction:
        rows, _ = transaction.execute("SELECT at FROM siding_begun", {})
    assert [row[0] for row in rows] == [NOW]


def test_old_disagreements_and_modes_are_forgotten_but_the_newest_mode_of_each_scope(service: Service) -> None:
    disagreement = (
        "INSERT INTO siding_disagreement (flow, event_id, hold_key, at) VALUES (:flow, :event_id, :event_id, :at)"
    )
    mode = "INSERT INTO siding_mode (flow, scope, mode, who, why, at) VALUES (:flow, :scope, 'shadow', 'kit', 'w', :at)"
    with service.ledger.transaction(FLOW.name) as transaction:
        for at in (NOW - 1, NOW):
            transaction.execute(disagreement, {"flow": FLOW.name, "event_id": b"e", "at": at})
        for scope, at in (("", NOW - 3), ("", NOW - 2), ("type:a", NOW - 3), ("type:a", NOW), ("type:b", NOW - 4)):
            transaction.execute(mode, {"flow": FLOW.name, "scope": scope, "at": at})
    forget(FLOW.name, service.ledger, before=NOW)
    with service.ledger.transaction(FLOW.name) as transaction:
        disagreements, _ = transaction.execute("SELECT at FROM siding_disagreement", {})
        modes, _ = transaction.execute("SELECT scope, at FROM siding_mode ORDER BY scope", {})
    assert [row[0] for row in disagreements] == [NOW]
    assert [tuple(row) for row in modes] == [("", NOW - 2), ("type:a", NOW), ("type:b", NOW - 4)]


def test_other_flows_keep_theirs(make_service: Callable[..., Service]) -> None:
    other = make_service(Flow(name="other", source_topic="s", parking_topic="p", replay_topic="r", consumer_group="g"))
    other.take(source("e1", 0))
    assert forget(FLOW.name, other.ledger, before=NOW) == 0
    assert known(other.ledger) == ["e1"]


def _marker(token: int) -> Record:
    return sent(Command(names.RELEASE, FLOW.name, b"k", token, "replay"))


@pytest.fixture
def flow(make_topic: Callable[..., str]) -> Flow:
    topics = {name: make_topic(name, partitions=2) for name in ("source", "parking", "replay")}
    return Flow(
        name="disputes", source_topic=topics["source"], parking_topic=topics["parking"],
        replay_topic=topics["replay"], consumer_group="g",
    )  # fmt: skip


def produce(kafka: str, topic: str, at: int, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, b"v", partition=partition, timestamp=at)
    assert producer.flush(10) == 0


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_the_oldest_record_of_both_topics_is_the_edge(kafka: str, flow: Flow, ledger: Ledger) -> None:
    settings = {"bootstrap.servers": kafka}
    now = int(time.time() * 1000)
    assert oldest_record(settings, (flow.source_topic, flow.replay_topic)) is None
    for topic, partition, days in (("source", 0, 3), ("source", 1, 20), ("replay", 1, 30), ("replay", 1, 1)):
        produce(kafka, getattr(flow, f"{topic}_topic"), now - days * DAY_MS, partition)
    assert oldest_record(settings, (flow.source_topic, flow.replay_topic)) == now - 30 * DAY_MS
    clock = [now - 30 * DAY_MS - SKEW_MS - 1]
    service = Service(ledger, Log(), flow, mark="?", now=lambda: clock[0])
    service.take(source("older", 0))
    clock[0] += 2
    service.take(source("as old", 1))
    assert purge(flow, ledger, settings) == 1
    assert known(ledger) == ["as old"]


def test_a_first_record_of_the_future_tells_no_time(kafka: str, flow: Flow) -> None:
    """Its producer's clock, or somebody who wants fates forgotten: an older record may stand behind it."""
    produce(kafka, flow.source_topic, int(time.time() * 1000) + SKEW_MS // 2)
    with pytest.raises(Unavailable, match="nothing was purged"):
        oldest_record({"bootstrap.servers": kafka}, (flow.source_topic, flow.replay_topic))


def test_a_partition_with_nothing_but_transaction_markers_has_no_oldest_record(kafka: str, flow: Flow) -> None:
    settings = {"bootstrap.servers": kafka}
    producer = Producer({**settings, "transactional.id": flow.source_topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(flow.source_topic, b"v", partition=0)
    assert producer.flush(30) == 0
    producer.abort_transaction(30)
    assert oldest_record(settings, (flow.source_topic, flow.replay_topic), timeout=10.0) is None
    at = int(time.time() * 1000) - DAY_MS
    produce(kafka, flow.source_topic, at)
    assert oldest_record(settings, (flow.source_topic, flow.replay_topic), timeout=10.0) == at


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_a_consumer_forgets_by_itself(
    kafka: str, flow: Flow, ledger: Ledger, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    days_ago = int(time.time() * 1000) - 3 * DAY_MS
    service = Service(ledger, log, flow, mark="?", now=lambda: days_ago)
    service.take(*(source(f"e{n}", n) for n in range(3)))
    stopping = threading.Event()
    away: dict[str, str] = {"bootstrap.servers": "127.0.0.1:1"}
    try:
        Purger(flow, ledger, {"bootstrap.servers": kafka}, Purge(keep_days=4, every=0.1), stopping=stopping)
        wait_until(lambda: "0 old fates were forgotten" in caplog.text)
        stopping.set()
        stopping = threading.Event()
        Purger(flow, ledger, away, Purge(keep_days=2, every=0.1), stopping=stopping)
        wait_until(lambda: "nothing was purged; fates are kept" in caplog.text, seconds=60)
        assert known(ledger) == ["e0", "e1", "e2"]
        away["bootstrap.servers"] = kafka
        wait_until(lambda: known(ledger) == [], seconds=60)
    finally:
        stopping.set()


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_nothing_is_forgotten_without_kafka(flow: Flow, ledger: Ledger) -> None:
    with pytest.raises(Unavailable, match="nothing was purged"):
        oldest_record({"bootstrap.servers": "127.0.0.1:1"}, (flow.source_topic,), timeout=1.0)
