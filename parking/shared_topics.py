"""Records in no key on a parking topic of several flows: nobody knows whose they are, so none of them sees them alone.

Intake keeps each with the first of these flows, for it has to stand somewhere. Only who may read payloads of all flows
that park on the topic now, switched off or not, is shown it. A topic of one flow is that flow's.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

from parking import storable
from parking.models import EventState, Flow, ParkedEvent, TopicIncarnation
from parking.models.event import EventStateQuerySet
from parking.topic_pattern import fits

LONGEST = 240
"""Characters of a topic's name that `ParkedEvent.parking_topic` has."""


def raw(*, visible: Collection[int], readable: Collection[int]) -> EventStateQuerySet:
    """What no dialect knows and what could not be read, newest first, as far as it is for these flows to see."""
    rows = EventState.objects.visible(visible).not_understood()
    for cluster, topics in closed(readable).items():
        rows = rows.exclude(event__cluster=cluster, event__parking_topic__in=topics)
    return rows


def hidden(event: ParkedEvent, topics: Mapping[int, Collection[str]]) -> bool:
    """Whether the record came to one of these `closed` topics; asked of an event that is in no key."""
    return event.parking_topic in topics.get(event.cluster_id, ())


def closed(flow_ids: Collection[int]) -> dict[int, list[str]]:
    """Cluster id → the topics on which several flows park, not all of which are among these."""
    allowed = set(flow_ids)
    flows, found = defaultdict[int, list[Flow]](list), defaultdict[int, list[str]](list)
    for flow in Flow.objects.all():
        flows[flow.cluster_id].append(flow)
    if all(flow.pk in allowed for of_cluster in flows.values() for flow in of_cluster):
        return {}
    for cluster, topic in TopicIncarnation.objects.order_by().values_list("cluster", "name").distinct():
        parks = {flow.pk for flow in flows[cluster] if _parks(flow, topic)}
        if len(parks) > 1 and not parks <= allowed:
            found[cluster].append(storable.text(topic, LONGEST))
    return dict(found)


def _parks(flow: Flow, topic: str) -> bool:
    named = any(fits(one, topic) for one in flow.parking_topics)
    return named and not any(fits(one, topic) for one in flow.retry_topics)
