"""For tests of alarms and of what they send: stopped keys, signs of life of intake, rules and hooks. All synthetic."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from parking.actor import Actor
from parking.models import AlarmRule, Beat, Delivery, Flow, Hook, Incident, Quarantine, Team
from parking.wire import Outcome, outcome
from tests.console.story import Lot, make_flow, ms, simple_key

OWNER = Actor("user:7", "Owner Seven")
CRASH = ("TimeoutError", "no answer in 30 s")
numbers = count(1)


def intake_lives(seconds_ago: float = 0.0) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    Beat.objects.update_or_create(process="intake", host="here", pid=1, defaults={"at": at})


def stop(lot: Lot, *, waiting: int = 1, ago: float = 60.0) -> Quarantine:
    """A new stopped key with so many unsettled events, parked so many seconds ago; stored by intake's own code."""
    return simple_key(lot, f"acc-{next(numbers)}".encode(), ago=ago, error=CRASH, held=waiting - 1)


def settle(lot: Lot, quarantine: Quarantine, *outcomes: str) -> None:
    """The consumer says what became of the events of a key: `applied`, `skipped`, in their order."""
    wires = []
    for event, word in zip(quarantine.events.order_by("position"), outcomes, strict=True):
        fact = Outcome(
            outcome=word,
            flow=lot.flow.name,
            hold_key=bytes(quarantine.hold_key.key),
            token=ms(0),
            event_id=event.event.exact_event_id,
            position=event.position,
            fingerprint=bytes(event.event.fingerprint),
            fate_token=ms(0),
        )
        wires.append((outcome.encode(fact), 0.0))
    lot.take(wires)


def rule(flow: Flow, measure: str = "depth", **changes: Any) -> AlarmRule:
    """A rule that fires at 3 and is over at 1, at once unless told otherwise."""
    given: dict[str, Any] = {
        "threshold": 3,
        "for_seconds": 0,
        "resolve_at": 1,
        "resolve_for_seconds": 0,
        "severity": "critical",
    }
    return AlarmRule.objects.create(
        team=flow.team,
        flow=None if measure == "stale" else flow,
        measure=measure,
        created_at=timezone.now(),
        **(given | changes),
    )


def hook(team: Team, address: str = "https://alerts.example/in", **changes: Any) -> Hook:
    kind = "webhook" if "//" in address else "email"
    name = changes.pop("name", f"hook {next(numbers)}")
    return Hook.objects.create(team=team, kind=kind, address=address, name=name, created_at=timezone.now(), **changes)


def told(incident: Incident) -> list[tuple[str, str]]:
    """(hook, transition) of every delivery of an incident, in the order in which they were written."""
    rows = Delivery.objects.filter(incident=incident).order_by("pk")
    return list(rows.values_list("hook__name", "transition"))


def transitions() -> list[str]:
    """Of every delivery there is, in the order in which they were written."""
    return list(Delivery.objects.order_by("pk").values_list("transition", flat=True))


__all__ = ["OWNER", "Lot", "hook", "intake_lives", "make_flow", "rule", "settle", "stop", "told", "transitions"]
