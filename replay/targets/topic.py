"""The topic that a target writes to, as the broker describes it now."""

from dataclasses import dataclass

from parking import topics
from parking.errors import Refused
from parking.models import Cluster

SECONDS = 5.0
KAFKAS_OWN = 1_048_588
"""Kafka's default of max.message.bytes, where the broker does not tell."""


class Unreachable(Refused):
    """The cluster does not answer; nothing is wrong with what was asked. Try again when it is back."""


@dataclass(frozen=True, slots=True)
class Topic:
    """`largest` is max.message.bytes: the largest batch that the broker takes. A policy that is not told is ''."""

    name: str
    partitions: int
    cleanup_policy: str
    largest: int


def read(cluster: Cluster, name: str) -> Topic:
    """The topic of that name. Raises Refused if there is none, Unreachable if nobody answers."""
    try:
        found = topics.read(cluster.client_settings, name, timeout=SECONDS)
    except topics.TopicMissing:
        raise Refused(
            f"Topic {name} does not exist on cluster {cluster.name}: create it or correct the flow."
        ) from None
    except topics.Unreachable as error:
        where = f"cluster {cluster.name} at {cluster.bootstrap_servers}"
        raise Unreachable(f"Nothing was sent; try again when Kafka is back: {where}: {error}.") from None
    return Topic(name, found.partitions, found.cleanup_policy or "", found.max_message_bytes or KAFKAS_OWN)
