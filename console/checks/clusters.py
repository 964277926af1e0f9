"""Kafka: each cluster of the flows answers, and the topics of each flow are fit for it. And the flows' secrets."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from confluent_kafka import KafkaException
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's own name
from django.db import Error as DatabaseFault

from parking import topics
from parking.models import Cluster, Flow

SECONDS = 5.0
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
    try:
        topics.client(cluster.client_settings).list_topics(timeout=SECONDS)
    except KafkaException as error:
        return [
            Error(
                f"Kafka at {cluster.bootstrap_servers} cannot be used: {error.args[0].str()}",
                hint=f"Start it, or correct bootstrap_servers and settings of the cluster by `{DECLARE}`, "
                "its secrets in SIDING_CLUSTER_SECRETS. "
                "Every broker must be reachable from here by the name in its advertised.listeners.",
                obj=f"Cluster {cluster.name}",
                id="siding.E402",
            )
        ]
    return [fault for flow in flows for fault in _topics(flow)]


def _topics(flow: Flow) -> list[CheckMessage]:
    try:
        lines = topics.faults(
            flow.cluster.client_settings,
            source=flow.source_topic,
            parking=flow.parking_topic,
            replay=flow.replay_topic or None,
        )
    except topics.Unreachable as error:
        lines = [f"{error}; check the addresses and the permissions of the cluster's user"]
    return [_fault(flow, *line.rpartition("; ")) for line in lines]


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
