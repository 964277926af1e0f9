"""Events of a key that the consumer speaks of and that have not arrived: gaps in the track."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from console.show.texts import number


@dataclass(frozen=True, slots=True)
class Missing:
    """An event that the consumer holds and the store has not: its id, its position where it was told, its place."""

    event_id: str
    position: int | None
    place: str

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.event_id.encode("utf-8", "surrogatepass")).digest()


def missing(
    evidence: Iterable[Mapping[str, Any] | None], blocked_by: Collection[str], known: Collection[bytes]
) -> list[Missing]:
    """What is named in outcomes' evidence (`still_held`, `first_held`) or as a held event's blocker and is not `known`.

    `known` are SHA-256 digests of event ids. In order of position, those without one first: they block what is there.
    """
    named: dict[str, Missing] = {name: Missing(name, None, "") for name in blocked_by if name}
    for told in evidence:
        for entry in _entries(told or {}):
            named[entry.event_id] = entry
    unknown = [one for one in named.values() if one.digest not in known]
    return sorted(unknown, key=lambda one: (one.position is not None, one.position or 0))


def _entries(told: Mapping[str, Any]) -> Iterable[Missing]:
    first, held = told.get("first_held"), told.get("still_held")
    if isinstance(first, str) and first:
        yield Missing(first, None, "")
    for entry in held if isinstance(held, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("event_id"), str):
            position = entry.get("position")
            yield Missing(entry["event_id"], position if isinstance(position, int) else None, _place(entry))


def _place(entry: Mapping[str, Any]) -> str:
    topic, partition, offset = (entry.get(name) for name in ("topic", "partition", "offset"))
    place = number(offset) if isinstance(offset, int) else "?"
    return f"{topic} / P{partition} / {place}" if topic else ""
