"""Parking topics that intake does not read, because records vanish from them: told to their owners until it is over."""

from collections.abc import Collection

from django.db import transaction

from parking import alarms
from parking.models import Cluster, Flow, Incident

KIND = "compacted"


def tell(cluster: Cluster, compacted: Collection[str]) -> None:
    """These topics of the cluster, and no others, are compacted now: open an incident for each flow, close the rest."""
    with transaction.atomic():
        flows = list(Flow.objects.filter(cluster=cluster, enabled=True).order_by("pk"))
        for topic in sorted(compacted):
            for flow in flows:
                if flow.parks_on(topic):
                    alarms.open_incident(kind=KIND, flow=flow, key=topic, summary=_summary(topic))
        over = Incident.objects.unresolved().filter(kind=KIND, flow__cluster=cluster).exclude(key__in=compacted)
        for incident in over.select_related("flow").order_by("pk"):
            assert incident.flow is not None
            reason = f"Topic {incident.key} is no longer compacted, or no parking topic any more."
            alarms.close_incident(kind=KIND, flow=incident.flow, key=incident.key, reason=reason)


def _summary(topic: str) -> str:
    return (
        f"Parking topic {topic} is compacted: earlier events of a key vanish from it. Nothing is taken in from there "
        "until it has cleanup.policy=delete; what has vanished until then is lost."
    )
