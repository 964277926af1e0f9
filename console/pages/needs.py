"""What needs this viewer: incidents to act on, approvals to give, keys that are assigned."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from console import access
from console.access import Permission
from console.pages import found, stepper
from console.pages.replays import waits_for
from console.show.alarms import short
from parking.models import Incident, Quarantine
from replay.models import Replay

MOST = 200


@dataclass(frozen=True, slots=True)
class Need:
    """One card: `kind` chooses its second line in the template, `first` what it tells of."""

    kind: str
    meaning: str
    title: str
    address: str
    first: Incident | Replay | Quarantine
    word: str = ""
    about: str = ""


def of(request: HttpRequest) -> list[Need]:
    """At most one card of each kind, the gravest first."""
    return [need for need in (_incidents(request), _approvals(request), _keys(request)) if need]


def _incidents(request: HttpRequest) -> Need | None:
    """Unresolved incidents of flows that the viewer may act on."""
    flows = access.of(request.user).flow_ids(Permission.HALT)
    rows = list(Incident.objects.visible(flows).by_trouble().select_related("flow", "team")[: MOST + 1])
    if not rows:
        return None
    first, firing = rows[0], sum(row.state == Incident.State.FIRING for row in rows)
    by_you = first.acknowledged_by_id == found.actor(request.user).id
    about = f"{first.flow or first.team}: {short(first.kind, first.detail)}"
    one = len(rows) == 1
    return Need(
        "incident",
        "poison" if firing else "held",
        about if one else f"{_many(len(rows), 'incident')} are open",
        reverse("incident", args=[first.pk]) if one else reverse("incidents"),
        first,
        word="you" if by_you else first.acknowledged_by_name,
        about="" if one else about,
    )


def _approvals(request: HttpRequest) -> Need | None:
    viewer, me = access.of(request.user), found.actor(request.user).id
    asked = Replay.objects.waiting().filter(flow__in=viewer.flow_ids(Permission.APPROVE))
    rows = asked.select_related("flow", "quarantine__hold_key").order_by("expires_at", "pk")[:MOST]
    mine = [row for row in rows if waits_for(row, viewer, me)]
    if not mine:
        return None
    one = len(mine) == 1
    title = "1 approval waits for you" if one else f"{_many(len(mine), 'approval')} wait for you"
    return Need(
        "approval", "moving", title, reverse("replay", args=[mine[0].pk]) if one else reverse("replays"), mine[0]
    )


def _keys(request: HttpRequest) -> Need | None:
    flows, me = access.of(request.user).flow_ids(), found.actor(request.user).id
    mine = Quarantine.objects.visible(flows).unreleased().filter(assignee_id=me)
    oldest = mine.select_related("hold_key", "flow").order_by("oldest_at", "pk").first()
    if oldest is None:
        return None
    count = mine.count()
    address = reverse("key", args=[oldest.pk]) if count == 1 else f"{reverse('keys')}?assigned=me"
    title = f"{_many(count, 'key')} assigned to you"
    return Need("key", "moving", title, address, oldest, word=_how_far(oldest))


def _how_far(key: Quarantine) -> str:
    living = Replay.objects.living().filter(quarantine=key).first()
    if living:
        return "waits for approval" if living.state == Replay.State.REQUESTED else living.get_state_display().lower()
    return "not decided yet" if stepper.decided(key).undecided else "decided, not yet requested"


def _many(count: int, word: str) -> str:
    if count > MOST:
        return f"more than {MOST} {word}s"
    return f"{count} {word}{'' if count == 1 else 's'}"
