"""What a topic is like, and whether the topics of a flow are fit for it (DESIGN section 5). Knows no Django."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from parking.client_settings import masked

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
_MISSING = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION)
_NOT_LET_IN = (KafkaError._AUTHENTICATION, KafkaError._SSL)


class TopicMissing(Exception):
    """There is no topic of that name, or this user may not see it."""


class Unreachable(Exception):
    """The cluster does not answer, or refuses us. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a cluster says of one topic. What it does not tell (a mock cluster, a missing permission) is None.

    `retention_ms` and `retention_bytes` (of each partition) are −1 where nothing is deleted for its age or size.
    """

    name: str
    partitions: int
    cleanup_policy: str | None = None
    max_message_bytes: int | None = None
    retention_ms: int | None = None
    retention_bytes: int | None = None


@dataclass(slots=True)
class Found:
    """What a cluster says of several topics: those that are there, and of others why they cannot be read now."""

    topics: dict[str, Topic] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    faults: dict[str, str] = field(default_factory=dict)


def read(settings: Mapping[str, Any], topic: str, *, timeout: float = 10.0) -> Topic:
    """What the cluster with these client settings says of the topic. Raises TopicMissing or Unreachable."""
    return read_with(client(settings), topic, timeout=timeout)


class Admin(AdminClient):
    """A client that is quiet about what becomes an error here, and knows why it was not let in."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = dict(settings)
        self._refusals: list[str] = []
        hear = partial(_hear, self._refusals)  # not a method: who is done with the client is rid of its threads at once
        given: dict[str, Any] = {"log_level": 2, **settings, "error_cb": hear}
        super().__init__(given)

    def why(self, error: KafkaError) -> str:
        """The error for people: why the login or the encryption failed, where that is known; no secret is in it."""
        self.poll(0)  # calls `_hear`
        said = (self._refusals or [error.str()])[0]
        self._refusals.clear()
        return masked(said, self._settings)

    def unreachable(self, error: KafkaError) -> Unreachable:
        why = self.why(error)
        return Unreachable(f"Kafka cannot be reached: check the addresses, the network and the login ({why})")


def _hear(refusals: list[str], error: KafkaError) -> None:
    if error.code() in _NOT_LET_IN:
        refusals[:] = [error.str()]


def client(settings: Mapping[str, Any]) -> Admin:
    """A client of the cluster with these settings. Raises KafkaException where it does not take them."""
    return Admin(settings)


def read_with(admin: Admin, topic: str, *, timeout: float = 10.0) -> Topic:
    """The same with a client that is there already."""
    found = find(admin, [topic], timeout=timeout)
    if topic in found.missing:
        raise TopicMissing(topic)
    if topic in found.faults:
        raise Unreachable(found.faults[topic])
    return found.topics[topic]


def find(
    admin: Admin,
    names: Collection[str],
    *,
    fits: Callable[[str], object] = lambda _: False,
    timeout: float = 10.0,
) -> Found:
    """What the cluster says of the topics of these names, and of all others that fit. Raises Unreachable."""
    try:
        cluster = admin.list_topics(timeout=timeout)  # of all topics: to ask for a missing one by name could create it
    except KafkaException as error:
        raise admin.unreachable(error.args[0]) from error
    found = Found(missing=set(names) - cluster.topics.keys())
    for name, listed in cluster.topics.items():
        if name not in names and not fits(name):
            continue
        if listed.error is None:
            found.topics[name] = Topic(name, len(listed.partitions))
        elif listed.error.code() in _MISSING:
            found.missing.add(name)
        else:
            found.faults[name] = f"topic {name} cannot be read now: {listed.error.str()}"
    if found.topics and not str(cluster.cluster_id).startswith(MOCK):
        _add_settings(admin, found, timeout)
    return found


def _add_settings(admin: Admin, found: Found, timeout: float) -> None:
    asked = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in found.topics]
    for resource, answer in admin.describe_configs(asked, request_timeout=timeout).items():
        name = resource.name
        try:
            settings = answer.result(timeout + 5)
        except TimeoutError as error:
            raise Unreachable(f"Kafka does not tell about topic {name}: no answer in time") from error
        except KafkaException as error:
            if error.args[0].code() in _MISSING:  # deleted this moment
                del found.topics[name]
                found.missing.add(name)
            elif error.args[0].code() not in _NOT_TOLD:
                raise admin.unreachable(error.args[0]) from error
            continue
        found.topics[name] = replace(
            found.topics[name],
            cleanup_policy=settings["cleanup.policy"].value,
            max_message_bytes=int(settings["max.message.bytes"].value),
            retention_ms=int(settings["retention.ms"].value),
            retention_bytes=int(settings["retention.bytes"].value),
        )


def faults(
    settings: Mapping[str, Any],
    *,
    source: str,
    parking: str | Collection[str],
    replay: str | None,
    fits: Callable[[str], object] = lambda _: False,
) -> list[str]:
    """What is wrong with the topics of a flow, one line each with what to do; empty where all is well.

    `parking` are one or several names; topics that fit are parking topics, too. `replay` is None for a flow without
    the gate. Raises Unreachable.
    """
    parking = [parking] if isinstance(parking, str) else list(parking)
    own = [name for name in (replay,) if name is not None]
    there = find(client(settings), {source, *parking, *own}, fits=fits)
    patterned = sorted(name for name in there.topics if fits(name) and name not in {source, *parking, *own})
    found = []
    if source in there.missing:
        found.append(f"source topic {source}: does not exist; create it or correct the name")
    largest = there.topics[source].max_message_bytes if source in there.topics else None
    needed = None if largest is None else largest + ROOM
    for role, names in (("parking", [*parking, *patterned]), ("replay", own)):
        found += [fault for name in names for fault in _faults(there, name, role, needed)]
    return found


def _faults(there: Found, name: str, role: str, needed: int | None) -> list[str]:
    """What is wrong with one topic that takes what comes from the source; `needed` bytes, None where not known."""
    if name in there.missing:
        return [f"{role} topic {name}: does not exist; create it with cleanup.policy=delete"]
    if name in there.faults:
        return [f"{role} {there.faults[name]}; look at its partitions' leaders"]
    topic = there.topics[name]
    found = []
    if topic.cleanup_policy not in (None, "delete"):
        found.append(
            f"{role} topic {name}: cleanup.policy is {topic.cleanup_policy}, so that earlier events of a key would be "
            f"lost; set cleanup.policy=delete"
        )
    if topic.max_message_bytes is not None and needed is not None and topic.max_message_bytes < needed:
        found.append(
            f"{role} topic {name}: max.message.bytes is {topic.max_message_bytes}, but the source's largest record "
            f"and 256 KiB need {needed}; set max.message.bytes={needed}"
        )
    return found
