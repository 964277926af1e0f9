"""What fixed an error last time: the decisions by which its events took effect, in keys that were released."""

from dataclasses import dataclass

from parking.models import Decision, ErrorGroup, EventState, Quarantine

KEYS = 50
DECISIONS = 200
SHOWN = 4


@dataclass(slots=True)
class Fix:
    """The latest decision of its kind, and how many of the last ones had the same action and reason."""

    decision: Decision
    times: int = 0


def fixes(group: ErrorGroup) -> list[Fix]:
    """The latest first. Looks at the last keys that were released only, so that it costs the same for any group."""
    keys = group.keys.filter(quarantine__state=Quarantine.State.RELEASED).order_by("-quarantine")[:KEYS]
    made = Decision.objects.filter(
        event_state__quarantine__in=list(keys.values_list("quarantine", flat=True)),
        event_state__error_group=group,
        event_state__state=EventState.State.APPLIED,
        action__in=[Decision.Action.APPLY, Decision.Action.AMEND],
    )
    rows = made.select_related("event_state__quarantine__hold_key", "amendment").order_by("-event_state__settled_at")
    told: dict[tuple[str, str], Fix] = {}
    for decision in rows[:DECISIONS]:
        told.setdefault((decision.action, decision.reason), Fix(decision)).times += 1
    return list(told.values())[:SHOWN]
