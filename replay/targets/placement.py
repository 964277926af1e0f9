"""Which partition of a plain topic the events of one key go to. Pure.

Never librdkafka's own choice: it sends a key elsewhere than a Java producer does (cases REP-01, REP-03, REP-04).
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from parking import partitioner


@dataclass(frozen=True, slots=True)
class Placement:
    """The partition, and what people should know about it (empty: nothing)."""

    partition: int
    note: str = ""


def place(sources: AbstractSet[int | None], key: bytes, partitions: int) -> Placement:
    """`sources` are the partitions that all events of the key came from, None for one that is not known; `key` is the
    record's, or the hold key where that is null.

    The same partition as the source's where that is one and exists; else where a Java producer would send the key.
    """
    hashed = partitioner.partition(key, partitions)
    source = next(iter(sources)) if len(sources) == 1 else None
    if source is None:
        why = "came from several partitions" if len(sources) > 1 else "do not say which partition they came from"
        return Placement(hashed, f"These events {why}: they go to partition {hashed}, by their key.")
    if source >= partitions:
        gone = f"Partition {source}, which these events came from, is gone (the topic has {partitions})"
        return Placement(hashed, f"{gone}: they go to partition {hashed}, by their key.")
    if source != hashed:
        return Placement(source, _elsewhere(source, hashed))
    return Placement(source)


def _elsewhere(source: int, hashed: int) -> str:
    return (
        f"These events go to partition {source}, where they came from. A Java producer would now send their key to "
        f"partition {hashed}: newer events of the key may be read there at the same time."
    )
