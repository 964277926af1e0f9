"""Old fates are forgotten, but none that a record could still meet."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.purge import DAY_MS, SKEW_MS, forget, purge
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


def test_more_keys_than_one_window_go_in_many_short_transactions(service: Service, log: Log) -> None:
    """And each remembers where its keys ended, also where it is the last one that reaches furthest."""
    with service.ledger.transaction(FLOW.name) as transaction:
        for n in range(2_500):
            hold = transaction.lock(f"k{n}".encode())
            transaction.save_hold(replace(hold, next_position=1_000 + n, released_position=1_000 + n))
    left: list[int] = []
    forget(FLOW.name, service.ledger, before=NOW, rest=lambda: left.append(len(keys(service.ledger))))
    assert left == [1_500, 500, 0]
    service.release(10, b"new")
    assert (log.outcome.outcome, log.outcome.position) == ("released", 1_000 + 2_499)


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
        replay_topic=topics["replay"],
        consumer_group=f"group-of-{topics['source']}",
    )  # fmt: skip


@pytest.fixture
def member(kafka: str, flow: Flow) -> Iterator[Consumer]:
    """Commits for the group of the flow."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": flow.consumer_group, "enable.auto.commit": False})
    yield consumer
    consumer.close()


def produce(kafka: str, topic: str, at: int = 0) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    refused: list[object] = []
    producer.produce(topic, b"v", partition=0, timestamp=at, on_delivery=lambda error, _: refused.append(error))
    assert producer.flush(60) == 0
    assert refused == [None]


def commit(member: Consumer, *ends: tuple[str, int]) -> None:
    member.commit(offsets=[TopicPartition(topic, 0, offset) for topic, offset in ends], asynchronous=False)


def delete(kafka: str, *ends: tuple[str, int]) -> None:
    """What the topics' retention does."""
    places = [TopicPartition(topic, 0, offset) for topic, offset in ends]
    admin = AdminClient({"bootstrap.servers": kafka})
    for gone in admin.delete_records(places).values():
        gone.result(60)


def at(time_ms: int, ledger: Ledger, flow: Flow) -> Service:
    """The service as it was then."""
    return Service(ledger, Log(), flow, mark="?" if ledger.schema == "sqlite" else "%s", now=lambda: time_ms)


@pytest.fixture
def decided(ledger: Ledger, flow: Flow) -> None:
    """Two events were decided two days ago."""
    days_ago = int(time.time() * 1000) - 2 * DAY_MS
    at(days_ago, ledger, flow).take(source("e1", 0), source("e2", 1))


decided_before = pytest.mark.usefixtures("decided")
"""Two events were, two days ago."""


def purged(flow: Flow, ledger: Ledger, kafka: str) -> int:
    """How many fates went; they are kept for a day."""
    return purge(flow, ledger, {"bootstrap.servers": kafka}, keep_days=1)


@decided_before
@pytest.mark.parametrize("first", ["source", "replay"])
def test_records_of_both_topics_keep_fates(
    kafka: str, flow: Flow, ledger: Ledger, member: Consumer, first: str
) -> None:
    ends = ((flow.source_topic, 1), (flow.replay_topic, 1))
    for topic, _ in ends:
        produce(kafka, topic)
    commit(member, *ends)
    assert purged(flow, ledger, kafka) == 0
    delete(kafka, ends[first == "replay"])
    assert purged(flow, ledger, kafka) == 0
    delete(kafka, ends[first == "source"])
    assert purged(flow, ledger, kafka) == 2
    assert known(ledger) == []


@decided_before
def test_a_record_that_was_read_and_waits_keeps_them(kafka: str, flow: Flow, ledger: Ledger, member: Consumer) -> None:
    """The topic has it no more, somebody of the group has: it is not committed."""
    produce(kafka, flow.source_topic)
    produce(kafka, flow.source_topic)
    commit(member, (flow.source_topic, 1))
    purged(flow, ledger, kafka)
    delete(kafka, (flow.source_topic, 2))
    assert purged(flow, ledger, kafka) == 0
    commit(member, (flow.source_topic, 2))
    assert purged(flow, ledger, kafka) == 2


@decided_before
@pytest.mark.parametrize("ahead", [-40 * DAY_MS, 0, 50 * 60_000])
def test_it_does_not_matter_when_a_record_says_it_was_written(
    kafka: str, flow: Flow, ledger: Ledger, member: Consumer, ahead: int
) -> None:
    """A producer's clock that was wrong, or somebody who wants fates forgotten."""
    produce(kafka, flow.source_topic, int(time.time() * 1000) + ahead)
    commit(member, (flow.source_topic, 1))
    purged(flow, ledger, kafka)
    produce(kafka, flow.source_topic)
    assert purged(flow, ledger, kafka) == 0
    delete(kafka, (flow.source_topic, 1))
    assert purged(flow, ledger, kafka) == 2


@decided_before
def test_what_was_decided_since_is_kept(kafka: str, flow: Flow, ledger: Ledger, member: Consumer) -> None:
    purged(flow, ledger, kafka)
    now = int(time.time() * 1000)
    at(now - SKEW_MS // 2, ledger, flow).take(source("e3", 2))
    assert purge(flow, ledger, {"bootstrap.servers": kafka}, keep_days=0.001) == 2
    assert known(ledger) == ["e3"]


@decided_before
def test_markers_of_transactions_are_records_like_others(
    kafka: str, flow: Flow, ledger: Ledger, member: Consumer
) -> None:
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": flow.source_topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(flow.source_topic, b"v", partition=0)
    assert producer.flush(60) == 0
    producer.abort_transaction(60)
    commit(member, (flow.source_topic, 2))
    purged(flow, ledger, kafka)
    assert purged(flow, ledger, kafka) == 0
    delete(kafka, (flow.source_topic, 2))
    assert purged(flow, ledger, kafka) == 2


@pytest.mark.slow
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
        wait_until(lambda: caplog.text.count("0 old fates were forgotten") > 1)
        stopping.set()
        stopping = threading.Event()
        Purger(flow, ledger, away, Purge(keep_days=2, every=0.1), stopping=stopping)
        wait_until(lambda: "nothing was purged; fates are kept" in caplog.text, seconds=60)
        assert known(ledger) == ["e0", "e1", "e2"]
        away["bootstrap.servers"] = kafka
        wait_until(lambda: known(ledger) == [], seconds=60)
    finally:
        stopping.set()
