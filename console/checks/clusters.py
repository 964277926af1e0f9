"""Kafka: each cluster of the flows answers, and the topics of each flow are fit for it. And the flows' secrets."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter

from confluent_kafka import KafkaException
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's own name
from django.db import Error as DatabaseFault

from parking import topics
from parking.client_settings import masked
from parking.models import Cluster, Flow
from parking.topic_pattern import fits as fits_one
from parking.topic_pattern import fitting, is_pattern

SECONDS = 5.0
SHORTEST = timedelta(days=3)
"""A weekend: for so long at least a parking topic should keep what nobody has read."""
DECLARE = "manage.py flows"


def look(**_: object) -> list[CheckMessage]:
    try:
        flows = list(Flow.objects.filter(enabled=True).select_related("cluster").order_by("cluster__name", "name"))
    except DatabaseFault:
        return []  # which the check of the database says
    if not flows:
        hint = "Declare whose failures are parked: `manage.py flows flows.toml` (docs/flows.md)."
        return [Warning("No flow is declared: nothing is taken in.", hint=hint, obj="Flows", id="siding.W401")]
    found = secrets(flows, settings.FLOW_SECRETS)
    for cluster, its in groupby(flows, attrgetter("cluster")):
        found += faults(cluster, its)
    return found


def faults(cluster: Cluster, flows: Iterable[Flow]) -> list[CheckMessage]:
    """What is wrong with the cluster, or else with the topics of its flows."""
    fault = _unusable(cluster)
    if fault:
        return [
            Error(
                f"Kafka at {cluster.bootstrap_servers} cannot be used: {fault}",
                hint=f"Start it, or correct bootstrap_servers and settings of the cluster by `{DECLARE}`, "
                "its secrets in SIDING_CLUSTER_SECRETS. "
                "Every broker must be reachable from here by the name in its advertised.listeners.",
                obj=f"Cluster {cluster.name}",
                id="siding.E402",
            )
        ]
    return [fault for flow in flows for fault in _topics(flow)]


def _unusable(cluster: Cluster) -> str:
    """Why nothing can be asked of the cluster, without its secrets; empty where it answers."""
    try:
        admin = topics.client(cluster.client_settings)
    except KafkaException as error:
        return masked(error.args[0].str(), cluster.client_settings)
    try:
        admin.list_topics(timeout=SECONDS)
    except KafkaException as error:
        return admin.why(error.args[0])
    return ""


def _topics(flow: Flow) -> list[CheckMessage]:
    settings, declared = flow.cluster.client_settings, flow.parking_topics
    names = [one for one in declared if not is_pattern(one)]
    fits = fitting(declared)
    try:
        lines = topics.faults(
            settings, source=flow.source_topic, parking=names, replay=flow.replay_topic or None, fits=fits
        )
        there = topics.find(topics.client(settings), names, fits=fits).topics.values()
    except topics.Unreachable as error:
        return [_fault(flow, str(error), "", "check the addresses and the permissions of the cluster's user")]
    found: list[CheckMessage] = [_fault(flow, *line.rpartition("; ")) for line in lines]
    return [*found, *(_forgetful(flow, topic) for topic in there if _is_forgetful(topic)), *_unfitting(flow, there)]


def _is_forgetful(topic: topics.Topic) -> bool:
    return topic.retention_ms is not None and 0 <= topic.retention_ms < SHORTEST / timedelta(milliseconds=1)


def _forgetful(flow: Flow, topic: topics.Topic) -> CheckMessage:
    return Warning(
        f"Parking topic {topic.name}: retention.ms is {topic.retention_ms}: what intake has not read by then is lost.",
        hint=f"Set retention.ms to more than the longest time intake may be down, {SHORTEST.days} days at least.",
        obj=f"Flow {flow.name}",
        id="siding.W406",
    )


def _unfitting(flow: Flow, there: Collection[topics.Topic]) -> list[CheckMessage]:
    """Patterns that no topic fits: the name may be misspelt, or the topic come later."""
    patterns = [one for one in flow.parking_topics if is_pattern(one)]
    return [
        Warning(
            f"No topic of cluster {flow.cluster.name} fits the pattern {pattern}.",
            hint="Correct it, unless the topics come later: intake takes them up by itself.",
            obj=f"Flow {flow.name}",
            id="siding.W407",
        )
        for pattern in patterns
        if not any(fits_one(pattern, topic.name) for topic in there)
    ]


def _fault(flow: Flow, fault: str, _: str, what_to_do: str) -> CheckMessage:
    hint = f"{what_to_do[:1].upper()}{what_to_do[1:]}."
    return Error(f"{fault[:1].upper()}{fault[1:]}.", hint=hint, obj=f"Flow {flow.name}", id="siding.E403")


def secrets(flows: Sequence[Flow], given: Collection[str]) -> list[CheckMessage]:
    """Secrets that sign nothing, and gated flows that nothing signs for."""
    where = "SIDING_FLOW_SECRETS"
    unknown = sorted(set(given) - {flow.name for flow in flows})
    unsigned = sorted(flow.name for flow in flows if flow.gated and flow.name not in given)
    found: list[CheckMessage] = []
    if unknown:
        hint = f"Correct the name, or declare and enable the flow (`{DECLARE}`)."
        found.append(Warning(f"No such flow: {', '.join(unknown)}.", hint=hint, obj=where, id="siding.W404"))
    if unsigned:
        fault = (
            f"Nothing signs the replays of {', '.join(unsigned)}: whoever writes to their topics makes things happen."
        )
        hint = "Give flow and consumer the same secret, or see to it by an ACL that only Siding can write to it."
        found.append(Info(fault, hint=hint, obj=where, id="siding.I405"))
    return found
