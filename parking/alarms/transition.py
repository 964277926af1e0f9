"""When a rule fires and when it is over: (thresholds, standing, reading, time) → (standing, what happens). Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Fires at `threshold` or above for `for_seconds`; is over at `resolve_at` or below for `resolve_for_seconds`."""

    threshold: int
    for_seconds: int
    resolve_at: int
    resolve_for_seconds: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a rule stands: whether an incident is open, and since when the value has been bad, or good."""

    firing: bool
    breached_since: datetime | None = None
    cleared_since: datetime | None = None


class Transition(Enum):
    OPEN = "open"
    RESOLVE = "resolve"


def step(
    thresholds: Thresholds, standing: Standing, value: int, *, fresh: bool, now: datetime
) -> tuple[Standing, Transition | None]:
    """What one reading makes of a standing.

    `fresh` says whether the reading can be trusted to have fallen: where intake is dead, no data is not a recovery, so
    nothing is resolved. Between `resolve_at` and `threshold` neither clock is stopped: a value that swings around the
    threshold fires once and stays so until it has really gone down.
    """
    breached, cleared = _clocks(thresholds, standing, value, now) if fresh else _stale(thresholds, standing, value, now)
    if not standing.firing:
        due = breached is not None and now - breached >= timedelta(seconds=thresholds.for_seconds)
        if due and value >= thresholds.threshold:
            return Standing(True, breached), Transition.OPEN
        return Standing(False, breached), None
    if cleared is not None and now - cleared >= timedelta(seconds=thresholds.resolve_for_seconds):
        return Standing(False), Transition.RESOLVE
    return Standing(True, breached, cleared), None


def _clocks(
    thresholds: Thresholds, standing: Standing, value: int, now: datetime
) -> tuple[datetime | None, datetime | None]:
    if value >= thresholds.threshold:
        return standing.breached_since or now, None
    if value <= thresholds.resolve_at:
        return None, standing.cleared_since or now
    # In between: what breached stays breached; what was clearing is not clear.
    return standing.breached_since, None


def _stale(
    thresholds: Thresholds, standing: Standing, value: int, now: datetime
) -> tuple[datetime | None, datetime | None]:
    return (standing.breached_since or now) if value >= thresholds.threshold else standing.breached_since, None
