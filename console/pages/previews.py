"""When an alarm rule would have fired over the last 7 days, by its values or by those that were typed into its form."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from console.pages.typed import whole_number
from parking.alarms import wording
from parking.alarms.past import Past
from parking.alarms.preview import Firing, firings
from parking.alarms.rules import THRESHOLDS, check, thresholds
from parking.alarms.transition import Thresholds
from parking.errors import Refused
from parking.models import AlarmRule

SHOWN = 5


def measured(measure: str, value: int) -> str:
    """`138 events`, `3 h 12 m`."""
    if measure == AlarmRule.Measure.DEPTH:
        return f"{value} event{'' if value == 1 else 's'}"
    return wording.duration(value)


@dataclass(frozen=True, slots=True)
class Fired:
    """One of the last firings; `most` in words, `before` where it fired already when what is looked at began."""

    firing: Firing
    most: str
    before: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """`fired` are the latest, latest first, of `count`. `wrong` says why there is nothing to see."""

    since: datetime | None
    whole: bool
    count: int
    fired: list[Fired]
    wrong: str = ""


def of_rule(rule: AlarmRule, then: Past) -> Preview:
    """By the values that the rule has."""
    return _preview(rule, then, thresholds(rule))


def of_typed(rule: AlarmRule, then: Past, typed: Mapping[str, str]) -> Preview:
    """By those of `THRESHOLDS` that were typed; the others are the rule's."""
    try:
        tried = Thresholds(*(whole_number(name, typed.get(name, str(getattr(rule, name)))) for name in THRESHOLDS))
        check(tried, rule.severity)
    except Refused as refused:
        return Preview(None, False, 0, [], str(refused))
    return _preview(rule, then, tried)


def _preview(rule: AlarmRule, then: Past, by: Thresholds) -> Preview:
    values = then.depth if rule.measure == AlarmRule.Measure.DEPTH else then.age
    found_firings = firings(by, values)
    began = values[0][0]
    last = found_firings[: -SHOWN - 1 : -1]
    fired = [Fired(one, measured(rule.measure, one.most), one.opened == began) for one in last]
    return Preview(then.since, then.whole, len(found_firings), fired)
