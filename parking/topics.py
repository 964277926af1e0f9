"""What a topic is like, and whether the topics of a flow are fit for it (DESIGN section 5). Knows no Django."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

ROOM = 256 * 1024
"""Bytes that a parked or replayed record may need on top of what the source topic takes."""

MOCK = "mockCluster"
"""How the id of librdkafka's mock cluster begins; it would not answer a question about settings."""

_NOT_TOLD = (
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError.UNSUPPORTED_VERSION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)


class TopicMissing(Exception):
    """There is no topic of that name, or this user may not see it."""


class Unreachable(Exception):
    """The cluster does not answer, or refuses us. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a cluster says of one topic. What it does not tell (a mock cluster, a missing permission) is None."""

    name: str
    partitions: int
    cleanup_policy: str | None = None
    max_message_bytes: int | None = None


def read(settings: Mapping[str, Any], topic: str, *, timeout: float = 10.0) -> Topic:
    """What the cluster with these client settings says of the topic. Raises TopicMissing or Unreachable."""
    return read_with(client(settings), topic, timeout=timeout)


def client(settings: Mapping[str, Any]) -> AdminClient:
    """A client that is quiet about what becomes an error here."""
    return AdminClient({"log_level": 2, **settings})


def read_with(admin: AdminClient, topic: str, *, timeout: float = 10.0) -> Topic:
    """The same with a client that is there already."""
    try:
        cluster = admin.list_topics(timeout=timeout)  # of all topics: to ask for a missing one by name could create it
    except KafkaException as error:
        raise _translated(error.args[0], topic) from error
    listed = cluster.topics.get(topic)
    if listed is None:
        raise TopicMissing(topic)
    if listed.error is not None:
        raise _translated(listed.error, topic)
    partitions = len(listed.partitions)
    if str(cluster.cluster_id).startswith(MOCK):
        return Topic(topic, partitions)
    return _with_settings(admin, Topic(topic, partitions), timeout)


def _with_settings(admin: AdminClient, topic: Topic, timeout: float) -> Topic:
    (answer,) = admin.describe_configs(
        [ConfigResource(ConfigResource.Type.TOPIC, topic.name)], request_timeout=timeout
    ).values()
    try:
        settings = answer.result(timeout + 5)
    except KafkaException as error:
        if error.args[0].code() in _NOT_TOLD:
            return topic
        raise _translated(error.args[0], topic.name) from error
    largest = int(settings["max.message.bytes"].value)
    return replace(topic, cleanup_policy=settings["cleanup.policy"].value, max_message_bytes=largest)


def faults(settings: Mapping[str, Any], *, source: str, parking: str, replay: str | None) -> list[str]:
    """What is wrong with the topics of a flow, one line each with what to do; empty where all is well.

    Raises Unreachable. `replay` is None for a flow without the gate.
    """
    admin = client(settings)
    found: list[str] = []
    needed = _needed(admin, source, found)
    for topic, role in ((parking, "parking"), (replay, "replay")):
        if topic is not None:
            found += _faults(admin, topic, role, needed)
    return found


def _needed(admin: AdminClient, source: str, found: list[str]) -> int | None:
    """How large a record of the parking topic may become; None where that is not known."""
    try:
        largest = read_with(admin, source).max_message_bytes
    except TopicMissing:
        found.append(f"source topic {source}: does not exist; create it or correct the name")
        return None
    return None if largest is None else largest + ROOM


def _faults(admin: AdminClient, topic: str, role: str, needed: int | None) -> list[str]:
    try:
        there = read_with(admin, topic)
    except TopicMissing:
        return [f"{role} topic {topic}: does not exist; create it with cleanup.policy=delete"]
    found = []
    if there.cleanup_policy not in (None, "delete"):
        found.append(
            f"{role} topic {topic}: cleanup.policy is {there.cleanup_policy}, so that earlier events of a key would be "
            f"lost; set cleanup.policy=delete"
        )
    if there.max_message_bytes is not None and needed is not None and there.max_message_bytes < needed:
        found.append(
            f"{role} topic {topic}: max.message.bytes is {there.max_message_bytes}, but the source's largest record "
            f"and 256 KiB need {needed}; set max.message.bytes={needed}"
        )
    return found


def _translated(error: KafkaError, topic: str) -> Exception:
    if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION):
        return TopicMissing(topic)
    return Unreachable(f"Kafka cannot be reached: check the addresses, the network and the login ({error.str()})")
