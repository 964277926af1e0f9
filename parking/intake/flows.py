"""The flows by parking topic, as far as reading a record needs to know them."""

from collections.abc import Iterable
from dataclasses import dataclass

from parking.models import Flow
from parking.topic_pattern import fits, is_pattern


@dataclass(frozen=True, slots=True)
class FlowFacts:
    """What intake needs of one flow. `gated`: its consumer has a ledger, positions and outcomes come from there."""

    id: int
    name: str
    cluster_id: int
    parking_topics: tuple[str, ...]
    consumer_group: str
    source_topic: str
    key_rule: str
    promise: str
    gated: bool


class Flows:
    """The flows that park on one topic, by name; there is at least one where the topic is read."""

    def __bool__(self) -> bool:
        return bool(self._flows)

    def __init__(self, topic: str, flows: Iterable[FlowFacts]) -> None:
        self.topic = topic
        self._flows = sorted(flows, key=lambda flow: flow.name)

    @property
    def first(self) -> FlowFacts:
        """Whose the topic is where a record does not say it: somebody has to see it."""
        return self._flows[0]

    def named(self, name: str) -> FlowFacts | None:
        return next((flow for flow in self._flows if flow.name == name), None)

    def ungated(self, group: str | None, *, derived: bool = False, source: str | None = None) -> FlowFacts | None:
        """The flow of that consumer group; where the record names none, the only one there is, or that of its source.

        A group that is only `derived` (Connect's default may be overridden) need not be the flow's where that is the
        only one and the record is of its `source` topic.
        """
        flows = [flow for flow in self._flows if not flow.gated]
        named = next((flow for flow in flows if flow.consumer_group == group), None)
        if named or (group is not None and not derived):
            return named
        only = flows if len(flows) == 1 else [flow for flow in flows if flow.source_topic == source]
        return only[0] if len(only) == 1 and (group is None or source in (None, only[0].source_topic)) else None


def facts(flow: Flow) -> FlowFacts:
    return FlowFacts(
        id=flow.pk,
        name=flow.name,
        cluster_id=flow.cluster_id,
        parking_topics=tuple(flow.parking_topics),
        consumer_group=flow.consumer_group,
        source_topic=flow.source_topic,
        key_rule=flow.key_rule,
        promise=flow.promise,
        gated=flow.gated,
    )


def by_topic(flows: Iterable[Flow]) -> dict[tuple[int, str], Flows]:
    """(cluster id, parking topic) → its flows; of topics that are declared by name."""
    known = [facts(flow) for flow in flows]
    places = {(one.cluster_id, name) for one in known for name in one.parking_topics if not is_pattern(name)}
    return {
        (cluster, topic): who(topic, [one for one in known if one.cluster_id == cluster]) for cluster, topic in places
    }


def who(topic: str, flows: Iterable[FlowFacts]) -> Flows:
    """Those of one cluster's flows that park on the topic, by its name or by a pattern that it fits."""
    return Flows(topic, [flow for flow in flows if any(fits(declared, topic) for declared in flow.parking_topics)])
