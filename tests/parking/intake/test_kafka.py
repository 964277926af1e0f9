"""Intake from the topic to the store, on Apache Kafka: new topics and partitions, gaps, another life of a topic."""

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.cimpl import NewPartitions, NewTopic
from django.conf import settings
from django.db import connection

from parking import headers as packed_headers
from parking.intake import ownership
from parking.intake.loop import Intake
from parking.models import Beat, Cluster, EventState, Flow, Incident, IntakePosition, JournalEntry, TopicIncarnation
from tests.conftest import FOR_EVER
from tests.waiting import wait_until

from .conftest import Lot, attempt, make_flow, make_lot, value_of

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def flow(make_topic, transactional_db) -> Flow:
    return declared(make_topic("parking"))


def declared(topic: str, name="payments", **changes) -> Flow:
    Cluster.objects.get_or_create(name="main", defaults={"bootstrap_servers": settings.KAFKA_BOOTSTRAP_SERVERS})
    return make_flow(name, parking_topic=topic, **changes)


def lot_of(flow: Flow) -> Lot:
    """Records of the flow; that its topic exists is for intake to find out."""
    lot = make_lot(flow)
    lot.topic.delete()
    return lot


def send(flow: Flow, *arrived, partition=None):
    producer = Producer({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS})
    for one in arrived:
        record = one.record
        where = record.partition if partition is None else partition
        producer.produce(
            flow.parking_topic,
            record.value,
            record.key,
            where,
            headers=list(record.headers),
            timestamp=record.timestamp_ms,
        )
    assert producer.flush(60) == 0


def until(condition: Callable[[], object], *intakes: Intake, seconds=120.0):
    """Turn until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        for intake in intakes:
            intake.turn()


def create_again(admin, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(60)
    wait_until(lambda: topic not in admin.list_topics(timeout=60).topics)
    admin.create_topics([NewTopic(topic, 1, 1, config=FOR_EVER)])[topic].result(60)


def stored(count: int) -> Callable[[], bool]:
    return lambda: EventState.objects.count() == count


def test_exact_bytes_from_the_topic(flow, intake):
    lot = lot_of(flow)
    headers = (("a", None), ("a", b""), ("ä", b"\x00\xff"), ("a", b"1"))
    send(
        flow,
        lot.poison("e1", 10, key=b"k\x00", value=b"\x00\xff", headers=headers, attempts=(attempt(),)),
        lot.held("e2", 11),
    )
    until(stored(2), intake)
    event = EventState.objects.get(event__event_id="e1")
    assert packed_headers.unpack(event.payload.headers) == headers
    assert (bytes(event.payload.key or b""), value_of(event)) == (b"k\x00", b"\x00\xff")
    assert event.event.unreadable_reason == ""
    assert event.event.parked_at.year == 2026
    until(lambda: Beat.objects.filter(process="intake", note="reads 1 partitions").exists(), intake)


def test_what_was_there_before_and_new_partitions_are_read_from_their_beginning(flow, intake, admin):
    """Case ING-14."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(10)))
    until(stored(10), intake)
    admin.create_partitions([NewPartitions(flow.parking_topic, 3)])[flow.parking_topic].result(60)
    wait_until(
        lambda: len(admin.list_topics(flow.parking_topic, timeout=60).topics[flow.parking_topic].partitions) == 3
    )
    send(flow, *(lot.poison(f"n{n}", 100 + n) for n in range(3)), partition=2)
    until(stored(13), intake)


def test_a_topic_that_comes_later_is_taken_up_while_others_go_on(flow, intake, admin, caplog):
    late = declared("late-" + flow.parking_topic, "late")
    send(flow, lot_of(flow).poison("e1", 1))
    until(stored(1), intake)
    until(lambda: "late" in caplog.text, intake)
    (line,) = {r.getMessage() for r in caplog.records if "late" in r.getMessage()}
    assert "does not exist: create it with cleanup.policy=delete" in line
    until(lambda: "late" in Beat.objects.get(process="intake").note, intake)
    admin.create_topics([NewTopic(late.parking_topic, 1, 1, config=FOR_EVER)])[late.parking_topic].result(60)
    send(late, lot_of(late).poison("e1", 1))
    until(stored(2), intake)
    until(lambda: "flow late: works again" in caplog.text, intake)
    admin.delete_topics([late.parking_topic])


def test_a_topic_that_is_created_again_is_read_anew(flow, intake, admin):
    """Case ING-15."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"old{n}", n, key=b"%d" % n) for n in range(10)))
    until(stored(10), intake)
    create_again(admin, flow.parking_topic)
    send(flow, *(lot.poison(f"new{n}", n, key=b"%d" % n) for n in range(20, 24)))
    until(stored(14), intake)
    old, new = TopicIncarnation.objects.order_by("id")
    assert old.topic_id != new.topic_id
    reason = JournalEntry.objects.get(verb="gap").reason
    assert reason.endswith("created again: all that was seen of the old one had been read.")
    incident = Incident.objects.get(kind="gap")
    assert (incident.flow, incident.summary) == (flow, reason)


def test_a_re_created_topic_that_is_longer_than_the_old_one(flow, intake, admin):
    """Our old position lies inside the new log: only the topic's id tells."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"old{n}", n, key=b"%d" % n) for n in range(3)))
    until(stored(3), intake)
    create_again(admin, flow.parking_topic)
    send(flow, *(lot.poison(f"new{n}", n, key=b"%d" % n) for n in range(20, 32)))
    until(stored(15), intake)


def test_records_that_came_from_another_life_are_not_stored_as_this_one_s(flow, intake):
    """Nothing but the topic's id tells, and it is asked after the records came."""
    lot = lot_of(flow)
    send(flow, lot.poison("e1", 1))
    until(stored(1), intake)
    intake.look_every = 1000
    (source,) = intake._sources.values()
    (owned,) = source.owned.values()
    owned.topic.topic_id = "that of a life that has ended"
    send(flow, lot.poison("e2", 2))
    until(stored(2), intake)
    assert source.owned[flow.parking_topic, 0] is not owned


def test_records_that_are_deleted_unread_are_a_loud_gap(flow, intake, admin):
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(5)))
    until(stored(5), intake)
    position = IntakePosition.objects.get()
    leave(intake)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(5, 12)))
    place = TopicPartition(flow.parking_topic, 0, 9)
    admin.delete_records([place])[place].result(60)
    again = Intake(look_every=0.2)
    until(stored(8), again)
    position.refresh_from_db()
    assert position.next_offset == 12
    entry = JournalEntry.objects.get(verb="gap")
    assert (entry.detail["from"], entry.detail["to"]) == (5, 8)
    assert Incident.objects.get(kind="gap").summary == entry.reason
    again.close()


def test_offsets_that_somebody_moved_change_nothing(flow, intake):
    """Case ING-13: read twice, stored once."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"e{n}", n, key=b"%d" % n) for n in range(20)))
    until(stored(20), intake)
    IntakePosition.objects.update(next_offset=0)
    send(flow, lot.poison("last", 99, key=b"last"))
    until(stored(21), intake)
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 21
    assert IntakePosition.objects.get().next_offset == 21


def transact(flow, record, *endings):
    """The record in a transaction of its own for each ending: "abort" or "commit"."""
    settings_of = {"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS, "transactional.id": flow.parking_topic}
    producer = Producer(settings_of)
    producer.init_transactions(60)
    for ending in endings:
        producer.begin_transaction()
        producer.produce(flow.parking_topic, record.value, record.key, headers=list(record.headers))
        producer.flush(60)
        (producer.abort_transaction if ending == "abort" else producer.commit_transaction)(60)


def test_aborted_transactions_are_no_records_and_no_gap(flow, intake):
    lot = lot_of(flow)
    transact(flow, lot.poison("aborted", 1, key=b"aborted").record, "abort")
    transact(flow, lot.poison("committed", 1, key=b"committed").record, "commit")
    send(flow, lot.poison("after", 2, key=b"after"))
    until(lambda: EventState.objects.filter(event__event_id="after").exists(), intake)
    assert {e.event.event_id for e in EventState.objects.all()} == {"committed", "after"}
    assert not JournalEntry.objects.filter(verb="gap").exists()


def test_the_marks_of_transactions_are_passed_and_no_gap_when_they_are_deleted(flow, intake, admin):
    """A log that ends with marks and aborted records was read to its end: nothing is behind, nothing was lost."""
    lot = lot_of(flow)
    transact(flow, lot.poison("committed", 1).record, "commit", "abort", "abort")
    until(lambda: IntakePosition.objects.filter(next_offset=6, log_end=6).exists(), intake)
    assert IntakePosition.objects.get().lag == 0
    leave(intake)
    place = TopicPartition(flow.parking_topic, 0, 6)
    admin.delete_records([place])[place].result(60)
    again = Intake(look_every=0.2)
    send(flow, lot.poison("after", 2))
    until(stored(2), again)
    assert IntakePosition.objects.get().next_offset == 7
    assert not Incident.objects.filter(kind="gap").exists()
    again.close()


def leave(intake):
    """As a process that ends: its partitions are free."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock_all()")
    intake.close()


@pytest.mark.slow
def test_two_processes_share_the_partitions(make_topic, intake, transactional_db, variables):
    import subprocess
    import sys

    flow = declared(make_topic("shared", partitions=4))
    lot = lot_of(flow)
    other = subprocess.Popen([sys.executable, "manage.py", "intake"], env=variables, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: Beat.objects.filter(process="intake").count() == 2, intake)
        until(lambda: Beat.objects.filter(note="reads 2 partitions").count() == 2, intake)
        for partition in range(4):
            send(
                flow,
                *(lot.poison(f"{partition}-{n}", n, key=b"%d" % partition) for n in range(50)),
                partition=partition,
            )
        until(stored(200), intake)
        other.kill()
        other.wait(60)
        for partition in range(4):
            send(
                flow,
                *(lot.poison(f"again {partition}-{n}", 100 + n, key=b"%d" % partition) for n in range(5)),
                partition=partition,
            )
        Beat.objects.filter(pid=other.pid).delete()  # else its silence has to be waited for
        until(stored(220), intake)
    finally:
        other.kill()
        other.wait(60)
    assert ownership.share(4) == 4


@pytest.mark.slow
def test_a_database_that_takes_longer_than_the_poll_interval_costs_no_partition(flow, intake):
    """Case ING-17: no group, so nothing is rebalanced away and nothing is read twice."""
    limits = {"session.timeout.ms": 2000, "max.poll.interval.ms": 2000}
    Cluster.objects.update(settings=limits)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.event_id = 'e7' "
            "THEN PERFORM pg_sleep(5); END IF; RETURN NEW; END $$"
        )
        cursor.execute("CREATE TRIGGER slow BEFORE INSERT ON parking_parkedevent FOR EACH ROW EXECUTE FUNCTION slow()")
    try:
        lot = lot_of(flow)
        send(flow, *(lot.poison(f"e{n}", n) for n in range(20)))
        until(stored(20), intake)
        send(flow, *(lot.poison(f"e{n}", n) for n in range(20, 30)))
        until(stored(30), intake)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER slow ON parking_parkedevent")
            cursor.execute("DROP FUNCTION slow()")
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 30
    assert not Incident.objects.exists()


@pytest.mark.slow
def test_what_was_read_ahead_is_not_stored_before_what_could_not_be(flow, intake):
    lot, total = lot_of(flow), 9000
    for first in range(0, total, 1000):
        send(flow, *(lot.poison(f"e{n}", n, key=b"%d" % (n % 50)) for n in range(first, first + 1000)))
    until(EventState.objects.exists, intake)
    before = EventState.objects.count()
    time.sleep(1)  # the client has all of them now, so there is a batch ahead of the one that fails
    try:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE parking_rollup RENAME TO away")
        assert intake.turn() == 0
        assert EventState.objects.count() == before < total
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE away RENAME TO parking_rollup")
    until(lambda: IntakePosition.objects.get().next_offset == total, intake)
    assert EventState.objects.count() == total


def test_two_that_believe_they_own_a_partition_store_it_once(flow, intake, monkeypatch):
    monkeypatch.setattr(ownership, "take", lambda position: True)
    monkeypatch.setattr(ownership, "share", lambda partitions: partitions)
    other = Intake(look_every=0.2)
    lot = lot_of(flow)
    for batch in range(10):
        send(flow, *(lot.poison(f"{batch}-{n}", batch * 100 + n) for n in range(20)))
        until(stored((batch + 1) * 20), intake, other)
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 200
