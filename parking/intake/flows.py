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
    retry_topics: tuple[str, ...] = ()

    @property
    def read_topics(self) -> tuple[str, ...]:
        """Names and patterns of all topics that intake reads for it."""
        return self.parking_topics + self.retry_topics


class Flows:
    """The flows that park on one topic, by name, and those whose events wait on it for another try.

    There is at least one where the topic is read.
    """

    def __bool__(self) -> bool:
        return bool(self._flows or self._waiting)

    def __init__(self, topic: str, flows: Iterable[FlowFacts], waiting: Iterable[FlowFacts] = ()) -> None:
        self.topic = topic
        self._flows = sorted(flows, key=lambda flow: flow.name)
        self._named = {flow.name: flow for flow in reversed(self._flows)}
        self._ungated = [flow for flow in self._flows if not flow.gated]
        self._by_group = {flow.consumer_group: flow for flow in reversed(self._ungated)}
        self._waiting = sorted(waiting, key=lambda flow: flow.name)

    @property
    def first(self) -> FlowFacts:
        """Whose the topic is where a record does not say it: somebody has to see it."""
        return (self._flows or self._waiting)[0]

    @property
    def watched(self) -> bool:
        """Whether events of any flow wait here."""
        return bool(self._waiting)

    def waiting(self, group: str | None, source: str | None, *, derived: bool = False) -> FlowFacts | None:
        """Whose event waits here: the flow of that group; where the record names none, or one that is only `derived`,
        that of its source topic, else the first. None where it names a group of none of them: it is not theirs to see.
        """
        named = next((flow for flow in self._waiting if flow.consumer_group == group), None)
        if named or (group is not None and not derived):
            return named
        first = self._waiting[0] if self._waiting else None
        return next((flow for flow in self._waiting if flow.source_topic == source), first)

    @property
    def source_topics(self) -> frozenset[str]:
        """Into which a record that parks here may point."""
        return frozenset(flow.source_topic for flow in self._flows)

    @property
    def parks(self) -> bool:
        """Whether any flow parks here."""
        return bool(self._flows)

    def named(self, name: str) -> FlowFacts | None:
        return self._named.get(name)

    def ungated(self, group: str | None, *, derived: bool = False, source: str | None = None) -> FlowFacts | None:
        """The flow of that consumer group; where the record names none, the only one there is, or that of its source.

        A group that is only `derived` (Connect's default may be overridden) need not be the flow's where that is the
        only one and the record is of its `source` topic.
        """
        flows = self._ungated
        named = None if group is None else self._by_group.get(group)
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
        retry_topics=tuple(flow.retry_topics),
    )


def by_topic(flows: Iterable[Flow]) -> dict[tuple[int, str], Flows]:
    """(cluster id, parking topic) → its flows; of topics that are declared by name."""
    known = [facts(flow) for flow in flows]
    places = {(one.cluster_id, name) for one in known for name in one.read_topics if not is_pattern(name)}
    return {
        (cluster, topic): who(topic, [one for one in known if one.cluster_id == cluster]) for cluster, topic in places
    }


def who(topic: str, flows: Iterable[FlowFacts]) -> Flows:
    """Those of one cluster's flows that park, or wait, on the topic, by its name or by a pattern that it fits."""
    flows = list(flows)
    return Flows(
        topic,
        [flow for flow in flows if _fits(flow.parking_topics, topic) and not _fits(flow.retry_topics, topic)],
        [flow for flow in flows if _fits(flow.retry_topics, topic)],
    )


def _fits(declared: Iterable[str], topic: str) -> bool:
    return any(fits(one, topic) for one in declared)
