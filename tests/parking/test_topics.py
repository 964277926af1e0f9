"""What a topic is like, and what is said where the topics of a flow are not fit for it."""

import socket
from collections.abc import Callable

import pytest

from parking import topics

LARGE = {"max.message.bytes": "1310732"}


@pytest.mark.kafka
def test_what_the_cluster_says_of_a_topic(kafka: str, make_topic: Callable[..., str]) -> None:
    made = {"cleanup.policy": "compact", "max.message.bytes": "5000", "retention.ms": "604800000"}
    name = make_topic("topic", partitions=3, **made)
    assert topics.read({"bootstrap.servers": kafka}, name) == topics.Topic(
        name, 3, "compact", 5000, retention_ms=604_800_000, retention_bytes=-1
    )


@pytest.mark.kafka
def test_a_topic_that_is_not_there_is_not_created_by_the_question(kafka: str) -> None:
    for _ in range(2):
        with pytest.raises(topics.TopicMissing):
            topics.read({"bootstrap.servers": kafka}, "no-such-topic")


def test_a_cluster_that_does_not_answer() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(topics.Unreachable, match="check the addresses, the network and the login") as error:
        topics.read({"bootstrap.servers": address}, "topic", timeout=1)
    assert "\n" not in str(error.value)


@pytest.mark.kafka
def test_fit_topics_have_no_faults(kafka: str, make_topic: Callable[..., str]) -> None:
    source, parking, replay = make_topic("source"), make_topic("parking", **LARGE), make_topic("replay", **LARGE)
    settings = {"bootstrap.servers": kafka}
    assert topics.faults(settings, source=source, parking=parking, replay=replay) == []
    assert topics.faults(settings, source=source, parking=parking, replay=None) == []


@pytest.mark.kafka
def test_each_fault_is_one_line_with_what_to_do(kafka: str, make_topic: Callable[..., str]) -> None:
    source, parking = make_topic("source"), make_topic("parking", **{"cleanup.policy": "compact,delete"})
    found = topics.faults({"bootstrap.servers": kafka}, source=source, parking=parking, replay="missing-replay")
    policy, size, missing = sorted(found, key=lambda line: ("replay" in line, "bytes" in line))
    assert policy.startswith(f"parking topic {parking}: cleanup.policy is compact,delete")
    assert policy.endswith("set cleanup.policy=delete")
    assert size.endswith("set max.message.bytes=1310732")
    assert missing == "replay topic missing-replay: does not exist; create it with cleanup.policy=delete"


@pytest.mark.kafka
def test_a_source_that_is_missing(kafka: str, make_topic: Callable[..., str]) -> None:
    parking = make_topic("parking", **LARGE)
    (fault,) = topics.faults({"bootstrap.servers": kafka}, source="missing-source", parking=parking, replay=None)
    assert fault == "source topic missing-source: does not exist; create it or correct the name"
