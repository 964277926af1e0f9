"""The same under kill -9: many keys, poison among them, replayed and released while the implementation is killed."""

from random import Random
from typing import cast

from parking.consumer.conformance.contract import GOOD
from parking.consumer.conformance.implementation import Implementation
from parking.consumer.conformance.line import Line
from parking.wire import Announcement, names

KEYS, EVENTS = 12, 8


def nothing_is_lost_doubled_or_overtaken(line: Line, implementation: Implementation, *, kills: int) -> None:
    """Every event of every key takes effect exactly once, in the order of its key, however often it is killed."""
    random = Random(kills)  # noqa: S311 - made-up data
    keys = [line.name("k") for _ in range(KEYS)]
    ids = {key: [line.name("e") for _ in range(EVENTS)] for key in keys}
    poison = {ids[key][random.randrange(EVENTS // 2)] for key in keys[::2]}
    for turn in range(EVENTS):
        for key in keys:
            name = ids[key][turn]
            line.event(key, name, fail=name in poison, wait_ms=random.choice((0, 0, 20)))
        if turn % 2 and kills:
            implementation.restart()
            kills -= 1
    for key in keys[::2]:
        _replay(line, key, ids[key], poison, implementation if kills > 0 else None)
        kills -= 1
    for key in keys:
        line.took_effect(ids[key][-1])
        line.effects_are(key, ids[key])


def _replay(line: Line, key: str, ids: list[str], poison: set[str], killed: Implementation | None) -> None:
    """Everything that is parked of the key, in its order, and the marker; killed once in the middle."""
    first = next(number for number, name in enumerate(ids) if name in poison)
    kinds = [names.POISON, *[names.HELD] * (len(ids) - first - 1)]
    parked = [cast("Announcement", line.announced(*one).reads) for one in zip(ids[first:], kinds, strict=True)]
    token = line.token()
    for number, event in enumerate(parked):
        line.command(line.apply(event, token, value=GOOD if event.event_id in poison else None))
        if killed and number == len(parked) // 2:
            killed.restart()
    line.command(line.release(key, token))
    line.released(token)
