"""When a rule would have fired: thresholds over the values of past minutes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from parking.alarms.transition import Standing, Thresholds, Transition, step


@dataclass(slots=True)
class Firing:
    """`resolved` is None while it lasts; `most` is the highest value meanwhile, in the rule's unit."""

    opened: datetime
    resolved: datetime | None
    most: int


def firings(thresholds: Thresholds, values: Sequence[tuple[datetime, int]]) -> list[Firing]:
    """Oldest first, by the same transitions as the alarms themselves, looked at once a minute."""
    standing, found = Standing(firing=False), list[Firing]()
    for minute, value in values:
        standing, happens = step(thresholds, standing, value, fresh=True, now=minute)
        if happens is Transition.OPEN:
            found.append(Firing(minute, None, value))
        elif happens is Transition.RESOLVE:
            found[-1].resolved = minute
        elif standing.firing:
            found[-1].most = max(found[-1].most, value)
    return found
