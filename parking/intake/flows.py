"""The flows by parking topic, as far as reading a record needs to know them."""

from collections.abc import Iterable
from dataclasses import dataclass

from parking.models import Flow


@dataclass(frozen=True, slots=True)
class FlowFacts:
    """What intake needs of one flow. `gated`: its consumer has a ledger, positions and outcomes come from there."""

    id: int
    name: str
    cluster_id: int
    parking_topic: str
    consumer_group: str
    source_topic: str
    key_rule: str
    promise: str
    gated: bool


class Flows:
    """The flows that park on one topic, by name; there is at least one."""

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
        """The flow of that consumer group; where the record names none, the only one there is.

        A group that is only `derived` (Connect's default may be overridden) need not be the flow's where that is the
        only one and the record is of its `source` topic.
        """
        flows = [flow for flow in self._flows if not flow.gated]
        named = next((flow for flow in flows if flow.consumer_group == group), None)
        only = flows[0] if len(flows) == 1 else None
        if named or (group is not None and not derived):
            return named
        return only if only and (group is None or source in (None, only.source_topic)) else None


def facts(flow: Flow) -> FlowFacts:
    return FlowFacts(
        id=flow.pk,
        name=flow.name,
        cluster_id=flow.cluster_id,
        parking_topic=flow.parking_topic,
        consumer_group=flow.consumer_group,
        source_topic=flow.source_topic,
        key_rule=flow.key_rule,
        promise=flow.promise,
        gated=flow.gated,
    )


def by_topic(flows: Iterable[Flow]) -> dict[tuple[int, str], Flows]:
    """(cluster id, parking topic) → its flows."""
    grouped: dict[tuple[int, str], list[FlowFacts]] = {}
    for flow in flows:
        grouped.setdefault((flow.cluster_id, flow.parking_topic), []).append(facts(flow))
    return {place: Flows(place[1], members) for place, members in grouped.items()}
