"""Schema registries: each one that a cluster declares answers, and its settings are sound."""

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's own name
from django.db import Error as DatabaseFault

from console.schemas.client import Down, Registry, Unsound, Unwilling
from parking.models import Cluster


def look(**_: object) -> list[CheckMessage]:
    try:
        clusters = list(Cluster.objects.filter(flows__enabled=True).distinct().order_by("name"))
    except DatabaseFault:
        return []  # which the check of the database says
    return [fault for cluster in clusters if cluster.registry_settings for fault in faults(cluster)]


def faults(cluster: Cluster) -> list[CheckMessage]:
    """What is wrong; a warning, for nothing but the view of values needs a registry."""
    try:
        Registry.of(cluster.registry_settings).look()
    except (Down, Unsound, Unwilling) as error:
        hint = (
            "Start it, or correct the settings schema.registry.… of the cluster by `manage.py flows`, its secrets in "
            "SIDING_CLUSTER_SECRETS (docs/values.md). Until then values of its schemas are shown as JSON or hex."
        )
        said = str(error)
        return [Warning(f"{said[:1].upper()}{said[1:]}.", hint=hint, obj=f"Cluster {cluster.name}", id="siding.W408")]
    return []
