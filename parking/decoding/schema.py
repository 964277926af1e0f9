"""A schema as a registry holds it: its text, and the texts of everything that it refers to."""

from collections.abc import Callable
from dataclasses import dataclass

AVRO, PROTOBUF, JSON = "AVRO", "PROTOBUF", "JSON"

SchemaId = int | str
"""The registry's number, or the GUID of the newer clients (lower case, with hyphens)."""


@dataclass(frozen=True, slots=True)
class Schema:
    """`kind` is AVRO, PROTOBUF or JSON. `references` are (name in the referring schema, text), needed ones first."""

    kind: str
    text: str
    references: tuple[tuple[str, str], ...] = ()


SchemaOf = Callable[[SchemaId], Schema]
"""Raises NoSchema, which says why."""
