"""For tests of alarms and of what they send: stopped keys, signs of life of intake, rules and hooks. All synthetic."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from parking.actor import Actor
from parking.alarms import open_incident
from parking.models import AlarmRule, Beat, Delivery, ErrorGroup, Flow, Hook, Incident, Quarantine, Team
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


def hook_of(flow: Flow) -> Hook:
    """A hook of that flow alone; the same one each time."""
    return Hook.objects.filter(flow=flow).first() or hook(flow.team, flow=flow, name=f"hook of {flow.name}")


def incident(flow: Flow, **changes: Any) -> Incident:
    """One that fires, of that flow, without a rule; the same one each time unless something is changed."""
    topic = flow.parking_topic
    given: dict[str, Any] = {"kind": "gap", "key": f"{topic}/0", "summary": f"{flow.name}: a gap in {topic}"}
    return open_incident(flow=flow, **(given | changes))


def delivery(flow: Flow, **changes: Any) -> Delivery:
    """The page that tells of its incident, with changes."""
    now = timezone.now()
    row, _ = Delivery.objects.get_or_create(
        incident=incident(flow),
        hook=hook_of(flow),
        transition="opened",
        defaults={"created_at": now, "due_at": now, "give_up_at": now},
    )
    Delivery.objects.filter(pk=row.pk).update(**(changes or {"state": row.state}))
    row.refresh_from_db()
    return row


def rule_of(flow: Flow) -> AlarmRule:
    """A rule of that flow; the same one each time."""
    return AlarmRule.objects.filter(flow=flow).first() or rule(flow)


def error_of(flow: Flow) -> ErrorGroup:
    """An error that stopped a key of that flow."""
    return ErrorGroup.objects.filter(flow=flow).latest("pk")


OF_FLOW: dict[str, Callable[[Flow], Any]] = {
    "incidents": incident,
    "deliveries": delivery,
    "rules": rule_of,
    "hooks": hook_of,
    "errors": error_of,
}
"""Something of a flow, by the first part of the address that shows it."""


def told(incident: Incident) -> list[tuple[str, str]]:
    """(hook, transition) of every delivery of an incident, in the order in which they were written."""
    rows = Delivery.objects.filter(incident=incident).order_by("pk")
    return list(rows.values_list("hook__name", "transition"))


def transitions() -> list[str]:
    """Of every delivery there is, in the order in which they were written."""
    return list(Delivery.objects.order_by("pk").values_list("transition", flat=True))


__all__ = [
    "OF_FLOW",
    "OWNER",
    "Lot",
    "delivery",
    "error_of",
    "hook",
    "hook_of",
    "incident",
    "intake_lives",
    "make_flow",
    "rule",
    "rule_of",
    "settle",
    "stop",
    "told",
    "transitions",
]
