"""Schemas that were asked for before: one that was found for ever, for its number never means another one.

What was not found is not asked for again for a while, and neither is a registry that did not answer: a page of many
values waits for it once.
"""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import NamedTuple

from console.schemas.client import Down, Registry
from parking.decoding import NoSchema, Schema, SchemaId

MISSING_SECONDS = 30.0
DOWN_SECONDS = 10.0
MOST_CHARACTERS = 64_000_000
MOST_MISSING = 1_000


class _Vain(NamedTuple):
    until: float
    why: str
    passing: bool


class Kept:
    """What one process knows of the schemas of all registries; used by many threads. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._found: dict[Hashable, Schema] = {}
        self._vain: dict[Hashable, _Vain] = {}

    def schema(self, cluster: str, registry: Registry, wanted: SchemaId) -> Schema:
        """The schema, from here or from the registry. Raises NoSchema."""
        at = (cluster, registry.urls)
        known = self._found.get((at, wanted))
        if known is not None:
            return known
        for place in (at, (at, wanted)):
            vain = self._vain.get(place)
            if vain is not None and self._clock() < vain.until:
                raise NoSchema(vain.why, passing=vain.passing)
        try:
            got = registry.schema(wanted)
        except Down as error:
            self._remember(at, error, DOWN_SECONDS)
            raise
        except NoSchema as error:
            self._remember((at, wanted), error, DOWN_SECONDS if error.passing else MISSING_SECONDS)
            raise
        self._keep((at, wanted), got)
        return got

    def forget(self) -> None:
        """Everything, as a new process knows nothing."""
        with self._lock:
            self._found.clear()
            self._vain.clear()

    def _remember(self, place: Hashable, why: NoSchema, seconds: float) -> None:
        with self._lock:
            if len(self._vain) >= MOST_MISSING:
                self._vain.clear()
            self._vain[place] = _Vain(self._clock() + seconds, str(why), why.passing)

    def _keep(self, place: Hashable, schema: Schema) -> None:
        with self._lock:
            self._found[place] = schema
            while len(self._found) > 1 and sum(map(_size, self._found.values())) > MOST_CHARACTERS:
                del self._found[next(iter(self._found))]


def _size(schema: Schema) -> int:
    return len(schema.text) + sum(len(text) for _, text in schema.references)


KEPT = Kept()
"""Of this process."""
