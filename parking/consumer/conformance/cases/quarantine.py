"""A key that is quarantined, as most cases begin."""

from typing import NamedTuple, cast

from parking.consumer.conformance.line import Line
from parking.wire import Announcement, names


class Quarantined(NamedTuple):
    """A hold key and its events as they were announced: the first is poison."""

    key: str
    events: list[Announcement]


def quarantined(line: Line, *, held: int) -> Quarantined:
    """One poison event and so many behind it, all announced."""
    key, ids = line.name("k"), [line.name("e") for _ in range(held + 1)]
    for name in ids:
        line.event(key, name, fail=name == ids[0])
    kinds = [names.POISON] + [names.HELD] * held
    found = [line.announced(name, kind).reads for name, kind in zip(ids, kinds, strict=True)]
    return Quarantined(key, cast("list[Announcement]", found))
