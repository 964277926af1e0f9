"""What the log is like stands beside each position: how far intake is behind, and when Kafka may delete the unread."""

from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import TopicPartition

from parking.models import IntakePosition, TopicIncarnation

from .test_kafka import declared, lot_of, send, stored, until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]
YEAR_MS = 31_536_000_000


@pytest.fixture
def flow(make_topic, transactional_db):
    return declared(make_topic("parking", **{"retention.ms": str(100 * YEAR_MS), "retention.bytes": "1000000"}))


def test_the_log_and_the_retention_stand_beside_the_position(flow, intake, admin):
    lot = lot_of(flow)
    began = datetime.now(UTC)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(5)))
    until(stored(5), intake)
    until(lambda: IntakePosition.objects.filter(log_end=5, read_until__gt=began).exists(), intake)
    position = IntakePosition.objects.select_related("topic").get()
    assert (position.log_start, position.lag) == (0, 0)
    assert (position.topic.retention_ms, position.topic.retention_bytes) == (100 * YEAR_MS, 1_000_000)
    assert position.read_until is not None
    assert position.loss_from == position.read_until + timedelta(milliseconds=100 * YEAR_MS)
    place = TopicPartition(flow.parking_topic, 0, 3)
    admin.delete_records([place])[place].result(60)
    until(lambda: IntakePosition.objects.filter(log_start=3).exists(), intake)


def test_what_is_not_stored_yet_is_behind_and_not_read_until_now(flow, intake):
    lot = lot_of(flow)
    send(flow, lot.poison("e0", 0))
    until(lambda: IntakePosition.objects.filter(log_end=1, read_until__isnull=False).exists(), intake)
    (source,) = intake._sources.values()
    if source._looking:  # begun before what is sent now
        source._looking.result(60)
    source.arrange()
    before = IntakePosition.objects.get().read_until
    send(flow, *(lot.poison(f"e{n}", n) for n in range(1, 8)))
    source.look()
    source._looking.result(60)
    source.arrange()
    position = IntakePosition.objects.get()
    assert (position.next_offset, position.log_end, position.lag) == (1, 8, 7)
    assert position.read_until == before
    seen = position.looked_at
    until(stored(8), intake)
    until(lambda: IntakePosition.objects.filter(read_until__gte=seen).exists(), intake)


def test_only_the_newest_life_of_a_topic_counts(db):
    flow = declared("parking")
    lives = [TopicIncarnation.objects.create(cluster=flow.cluster, name="parking", topic_id=str(n)) for n in range(2)]
    for life in lives:
        IntakePosition.objects.create(topic=life, partition=0, next_offset=0, moved_at=datetime.now(UTC))
    assert [row.topic for row in IntakePosition.objects.of_now()] == [lives[1]]


def test_a_log_that_begins_behind_the_position_is_not_that_far_behind():
    assert IntakePosition(next_offset=2, log_start=5, log_end=9).lag == 4
    assert IntakePosition(next_offset=9, log_start=5, log_end=7).lag == 0
    assert IntakePosition(next_offset=9).lag is None


def test_kept_for_longer_than_there_are_dates():
    topic = TopicIncarnation(retention_ms=2**63 - 1)
    assert IntakePosition(topic=topic, read_until=datetime.now(UTC)).loss_from is None
