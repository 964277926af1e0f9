"""Since when records can still come: from where the partitions end, begin, and are finished by the group."""

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from parking.consumer.edge import Place, look, places
from parking.consumer.errors import Unavailable
from parking.consumer.flow import Flow
from parking.consumer.ledger.rows import Note

NOTED = Note(edge=100, at=200, ends={"a": 10, "b": 0})


@pytest.mark.parametrize(
    ("a", "b", "edge"),
    [
        (Place(10, 15, 10), Place(0, 3, 0), 200),
        (Place(15, 15, 15), Place(3, 3, 3), 200),
        (Place(9, 15, 15), Place(3, 3, 3), 100),
        (Place(15, 15, 9), Place(3, 3, 3), 100),
        (Place(15, 15, -1), Place(3, 3, 3), 100),
        (Place(10, 10, 10), Place(0, 0, -1), 200),
    ],
    ids=["all gone and finished", "and nothing since", "one is there", "one waits somewhere", "nothing is committed",
         "a partition that nothing was in"],
)  # fmt: skip
def test_the_edge_moves_when_all_that_was_there_is_gone_and_finished(a: Place, b: Place, edge: int) -> None:
    after = look(NOTED, 300, {"a": a, "b": b})
    assert after.edge == edge
    assert after == (NOTED if edge == 100 else Note(edge=200, at=300, ends={"a": a.end, "b": b.end}))


def test_the_first_time_it_is_only_noted() -> None:
    assert look(Note(), 300, {"a": Place(4, 4, 4)}) == Note(edge=0, at=300, ends={"a": 4})


def test_a_partition_that_is_new_has_nothing_from_before() -> None:
    there = {"a": Place(10, 10, 10), "b": Place(0, 0, 0), "c": Place(0, 7, -1)}
    assert look(NOTED, 300, there).edge == 200


@pytest.mark.parametrize(
    "there",
    [{"a": Place(0, 3, 3), "b": Place(0, 0, 0)}, {"b": Place(0, 0, 0)}, {"c": Place(0, 9, 9)}],
    ids=["written anew", "gone", "of another name"],
)
def test_where_the_topics_are_others_it_begins_again(there: dict[str, Place]) -> None:
    after = look(NOTED, 300, there)
    assert (after.edge, after.at, set(after.ends)) == (100, 300, set(there))


@pytest.fixture
def flow(make_topic: Callable[..., str]) -> Flow:
    topics = [make_topic(name, partitions=2) for name in ("source", "parking", "replay")]
    return Flow(
        name="disputes", source_topic=topics[0], parking_topic=topics[1], replay_topic=topics[2],
        consumer_group=f"group-of-{topics[0]}",
    )  # fmt: skip


@pytest.fixture
def member(kafka: str, flow: Flow) -> Iterator[Consumer]:
    """Commits for the group of the flow."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": flow.consumer_group, "enable.auto.commit": False})
    yield consumer
    consumer.close()


def produce(kafka: str, topic: str, number: int, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(number):
        producer.produce(topic, b"v", partition=partition)
    assert producer.flush(60) == 0


def test_what_kafka_tells_of_the_partitions(kafka: str, flow: Flow, member: Consumer) -> None:
    settings: dict[str, str | int | float | bool] = {"bootstrap.servers": kafka}
    produce(kafka, flow.source_topic, 3)
    produce(kafka, flow.replay_topic, 2, partition=1)
    member.commit(offsets=[TopicPartition(flow.source_topic, 0, 2)], asynchronous=False)
    there = {name.partition("/")[2]: place for name, place in places(settings, flow).items()}
    source, replay = flow.source_topic, flow.replay_topic
    assert there == {
        f"{source}/0": Place(0, 3, 2), f"{source}/1": Place(0, 0, -1),
        f"{replay}/0": Place(0, 0, -1), f"{replay}/1": Place(0, 2, -1),
    }  # fmt: skip
    member.commit(offsets=[TopicPartition(flow.source_topic, 0, 3)], asynchronous=False)
    admin = AdminClient(settings)
    (gone,) = admin.delete_records([TopicPartition(source, 0, 3)]).values()
    gone.result(60)
    assert next(place for name, place in places(settings, flow).items() if name.endswith(f"{source}/0")) == (3, 3, 3)


def test_other_clusters_have_other_partitions(kafka: str, flow: Flow) -> None:
    cluster = str(AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).cluster_id)
    assert cluster != "None"
    assert all(name.startswith(f"{cluster}/") for name in places({"bootstrap.servers": kafka}, flow))


@pytest.mark.parametrize("topic", ["source_topic", "replay_topic"])
def test_a_topic_that_is_not_there_is_said(kafka: str, flow: Flow, topic: str) -> None:
    missing = Flow(
        name="disputes", source_topic=flow.source_topic if topic != "source_topic" else "nowhere-1",
        parking_topic=flow.parking_topic, replay_topic=flow.replay_topic if topic != "replay_topic" else "nowhere-2",
        consumer_group="g",
    )  # fmt: skip
    with pytest.raises(Unavailable, match=r"group g has read of .*nowhere.*nothing was purged"):
        places({"bootstrap.servers": kafka, "allow.auto.create.topics": False}, missing)


def test_kafka_that_is_away_is_said(flow: Flow) -> None:
    with pytest.raises(Unavailable, match="nothing was purged"):
        places({"bootstrap.servers": "127.0.0.1:1"}, flow, timeout=1.0)
