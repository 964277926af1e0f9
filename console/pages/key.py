"""One key, the heart: its queue, the selected event, what is to happen to it, and the one next action."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from console import access, looks
from console.access import Permission
from console.pages import found, stepper
from console.pages.kept import kept
from console.pages.keys import times_stopped
from console.pages.selected import VIEWS, Selected, select
from console.pages.track import Track, track
from parking.models import EventState, JournalEntry, Quarantine
from replay.approve import own
from replay.models import Replay

JOURNAL = 12


@require_safe
def key(request: HttpRequest, pk: int) -> HttpResponse:
    quarantine = found.quarantine(request, pk)
    if "have" in request.GET:
        return render(request, "key/freshness.html", {"changed": request.GET["have"] != version(quarantine)})
    return show(request, quarantine)


def show(
    request: HttpRequest,
    quarantine: Quarantine,
    *,
    event: EventState | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page; `refused` says why the last action was not done, what was typed stays in its field."""
    event = event or _asked_event(request, quarantine)
    selected = select(request, event) if event else None
    replay = latest_replay(quarantine)
    decisions = stepper.decided(quarantine)
    living = replay if replay and (replay.living or quarantine.state == Quarantine.State.RELEASED) else None
    context = {
        "quarantine": quarantine,
        "flow": quarantine.flow,
        "selected": selected,
        "view": _view(request, selected),
        "track": _track(request, quarantine),
        "replay": replay,
        "decisions": decisions,
        "stages": stepper.of_key(quarantine, decisions, living, for_you=_for(request, living)),
        "next": next_action(request, quarantine, decisions, replay),
        "times": times_stopped([quarantine])[quarantine.hold_key_id],
        "may": permissions(request, quarantine.flow_id),
        "journal": journal(request, quarantine),
        "version": version(quarantine),
        "refused": refused,
        "typed": request.POST.get("reason", ""),
    }
    return render(request, "key/key.html", context, status=status)


def _for(request: HttpRequest, replay: Replay | None) -> bool:
    """Whether this viewer is one who may approve it."""
    if replay is None or not permissions(request, replay.flow_id)["approve"]:
        return False
    return not own(replay, found.actor(request.user).id)


@dataclass(frozen=True, slots=True)
class Action:
    """The one primary action: what its button says and where it leads."""

    label: str
    address: str


def next_action(
    request: HttpRequest, quarantine: Quarantine, decisions: stepper.Decided, replay: Replay | None
) -> Action | None:
    """What this viewer should do next with this key; None if nothing is to be done."""
    may = permissions(request, quarantine.flow_id)
    if quarantine.state == Quarantine.State.RELEASED:
        return None
    if replay and replay.living:
        asked = "Review the replay that waits" if _for(request, replay) else "See the request"
        label = asked if replay.state == Replay.State.REQUESTED else "Watch the replay"
        return Action(label, reverse("replay", args=[replay.pk]))
    if decisions.undecided and may["decide"]:
        return _decide(quarantine, decisions)
    if not decisions.undecided and may["request"]:
        events = f"{quarantine.depth} event{'' if quarantine.depth == 1 else 's'}"
        label = f"Request replay of {events}" if quarantine.depth else "Request the release"
        return Action(label, reverse("replay_request", args=[quarantine.pk]))
    return None


def _decide(quarantine: Quarantine, decisions: stepper.Decided) -> Action:
    first = EventState.objects.unsettled(quarantine).undecided().first()
    some = f"{decisions.undecided} {decisions.what}{'' if decisions.undecided == 1 else 's'}"
    chosen = f"?event={first.pk}" if first else ""
    return Action(f"Decide {some}", f"{reverse('key', args=[quarantine.pk])}{chosen}#decide")


def permissions(request: HttpRequest, flow_id: int) -> dict[str, bool]:
    """What this viewer may do with this flow, by short names for templates."""
    viewer = access.of(request.user)
    return {permission.name.lower(): viewer.may(flow_id, permission) for permission in Permission}


def latest_replay(quarantine: Quarantine) -> Replay | None:
    return Replay.objects.with_progress().select_related("flow").filter(quarantine=quarantine).order_by("-id").first()


def version(quarantine: Quarantine) -> str:
    """A word that changes when the key does: its counters, its state, its replay, its journal but for looks."""
    acts = JournalEntry.objects.of_quarantine(quarantine.pk).exclude(verb=looks.VERB)
    newest = acts.values_list("pk", flat=True).first() or 0
    return f"{quarantine.state}-{quarantine.poison}-{quarantine.held}-{quarantine.settled}-{newest}"


def journal(request: HttpRequest, quarantine: Quarantine) -> dict[str, Any]:
    """Latest first; looks at payloads are counted and shown on request."""
    entries = JournalEntry.objects.of_quarantine(quarantine.pk)
    whole = request.GET.get("journal") == "all"
    rows = list(entries if whole else entries.exclude(verb=looks.VERB)[: JOURNAL + 1])
    return {
        "entries": rows if whole else rows[:JOURNAL],
        "more": not whole and len(rows) > JOURNAL,
        "looks": 0 if whole else entries.filter(verb=looks.VERB).count(),
        "types": _types(rows),
        "me": found.actor(request.user).id,
    }


def _types(entries: list[JournalEntry]) -> dict[int, str]:
    """Event type by event id, for the entries' sentences."""
    named = {entry.event_id for entry in entries if entry.event_id}
    events = EventState.objects.filter(pk__in=named).select_related("event")
    return {event.pk: kept(event).event.event_type or event.event.event_id for event in events}


def _asked_event(request: HttpRequest, quarantine: Quarantine) -> EventState | None:
    """The event in the address if it is of this key, else the head, else the last one."""
    rows = EventState.objects.in_order(quarantine).select_related("flow", "event", "decision__amendment", "error_group")
    asked = request.GET.get("event", "")
    chosen = rows.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < 19 else None
    found = chosen or rows.filter(state=EventState.State.PARKED).first() or rows.first()
    return kept(found) if found else None


def _track(request: HttpRequest, quarantine: Quarantine) -> Track:
    after = request.GET.get("after", "")
    return track(
        quarantine,
        after=int(after) if after.isdecimal() and len(after) < 19 else -1,
        settled=request.GET.get("settled") == "1",
    )


def _view(request: HttpRequest, selected: Selected | None) -> str:
    asked = request.GET.get("view", "")
    if asked in VIEWS:
        return asked
    return "amended" if selected and selected.amendment and not selected.errors else "original"
