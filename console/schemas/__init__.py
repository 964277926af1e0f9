"""Schemas of values, from the schema registry of their cluster: asked only when somebody looks at a value.

Intake never comes here, so a registry that is away or slow makes a page poorer, and nothing else.
"""

from functools import partial

from console.schemas.client import Registry, Unsound
from console.schemas.kept import KEPT
from parking.decoding import Decoded, NoSchema, Schema, SchemaId, SchemaOf, decode
from parking.models import Cluster
from parking.record import Headers

__all__ = ["of", "read"]


def read(cluster: Cluster, value: bytes | None, headers: Headers, part: str = "value") -> Decoded:
    """What a value, or a `key`, of this cluster is; with its schema, if that can be had."""
    return decode(value, headers=headers, schema_of=of(cluster), part=part)


def of(cluster: Cluster) -> SchemaOf | None:
    """How the schemas of this cluster are found; None where no registry is declared."""
    given = cluster.registry_settings
    if not given:
        return None
    try:
        registry = Registry.of(given)
    except Unsound as error:
        return partial(_unsound, str(error))
    return partial(KEPT.schema, cluster.name, registry)


def _unsound(why: str, _: SchemaId) -> Schema:
    raise NoSchema(f"the settings of the schema registry are not sound ({why})")
