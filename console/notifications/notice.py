"""What a hook is told, within bounds that every receiver takes: numbers, names and times, never anything of a payload.

All of it follows from columns that no longer change once the transition has happened: a second try says the same.
"""

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings

from parking.models import Delivery, Hook, Incident

LONGEST_SUMMARY = 1024  # PagerDuty refuses more
LONGEST_TEXT = 256
MOST_DETAILS = 20
OPENED, ACKNOWLEDGED, RESOLVED = (
    Delivery.Transition.OPENED,
    Delivery.Transition.ACKNOWLEDGED,
    Delivery.Transition.RESOLVED,
)
STATES = {OPENED: "firing", ACKNOWLEDGED: "acknowledged", RESOLVED: "resolved"}
JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Notice:
    """One message: its type (`incident.opened`, `hook.test`), when it happened, one line, and facts by name."""

    type: str
    at: datetime
    summary: str
    facts: dict[str, Any]

    def body(self) -> bytes:
        """The JSON of a webhook (Standard Webhooks: type, timestamp, data), far below any receiver's limit."""
        data = {"summary": self.summary, **self.facts}
        return orjson.dumps({"type": self.type, "timestamp": self.at.isoformat(), "data": data})


def of(delivery: Delivery) -> Notice:
    """What this delivery tells."""
    if delivery.incident is None:
        return _test(delivery.hook, delivery.created_at)
    incident, transition = delivery.incident, Delivery.Transition(delivery.transition)
    facts = {
        "dedup_key": incident.dedup_key,
        "state": STATES[transition],
        "kind": incident.kind,
        "severity": incident.severity,
        "environment": settings.ENVIRONMENT,
        "team": incident.team.name,
        "flow": incident.flow.name if incident.flow else None,
        "key": cut(incident.key, LONGEST_TEXT) or None,
        "link": f"{settings.BASE_URL}/incidents/{incident.pk}",
        "runbook": cut(incident.runbook, 2000) or None,
        "breached_at": incident.breached_at.isoformat(),
        "opened_at": incident.opened_at.isoformat(),
        **_since(incident, transition),
        "detail": _bounded(incident.detail),
    }
    at = {OPENED: incident.opened_at, ACKNOWLEDGED: incident.acknowledged_at, RESOLVED: incident.resolved_at}
    when = at[transition] or incident.opened_at
    return Notice(f"incident.{transition}", when, cut(incident.summary, LONGEST_SUMMARY), facts)


def cut(text: str, longest: int) -> str:
    """At most `longest` characters with a mark where it was cut, never inside what is seen as one character."""
    if len(text) <= longest:
        return text
    end = longest - 1
    while end > 0 and (_continues(text[end]) or text[end - 1] == JOINER):
        end -= 1
    return text[:end] + "…"


def _continues(letter: str) -> bool:
    return letter == JOINER or unicodedata.combining(letter) != 0 or unicodedata.category(letter) in ("Mn", "Me")


def _since(incident: Incident, transition: Delivery.Transition) -> dict[str, Any]:
    """What happened since the opening. What a person typed stays inside: it may quote an event."""
    if transition == ACKNOWLEDGED and incident.acknowledged_at:
        who = cut(incident.acknowledged_by_name, LONGEST_TEXT)
        return {"acknowledged_at": incident.acknowledged_at.isoformat(), "acknowledged_by": who}
    if transition == RESOLVED and incident.resolved_at:
        who = cut(incident.resolved_by_name, LONGEST_TEXT)
        why = f"resolved by {who}" if who else cut(incident.resolution, LONGEST_TEXT)
        return {"resolved_at": incident.resolved_at.isoformat(), "resolution": why}
    return {}


def _bounded(detail: dict[str, Any]) -> dict[str, str | int]:
    kept = list(detail.items())[:MOST_DETAILS]
    return {cut(str(name), 64): _short(value) for name, value in kept if isinstance(value, str | int)}


def _short(value: str | int) -> str | int:
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)[:LONGEST_TEXT]
    return cut(value, LONGEST_TEXT)


def _test(hook: Hook, at: datetime) -> Notice:
    facts = {"environment": settings.ENVIRONMENT, "team": hook.team.name, "hook": hook.name, "link": settings.BASE_URL}
    return Notice("hook.test", at, f"Test of hook {hook.name} of team {hook.team.name}: nothing is wrong.", facts)
