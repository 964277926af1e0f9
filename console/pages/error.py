"""One error group: what it does, what fixed it last time, what is said of it, and saying something else."""

from datetime import datetime, time

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_POST, require_safe

from console import access
from console.access import Permission
from console.pages import found
from console.pages.error_counts import counted
from console.pages.fixes import fixes
from console.pages.keys import Asked, page_of
from parking import triage as triaging
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import ErrorGroup, Quarantine, Triage
from parking.models.quarantine import QuarantineQuerySet
from parking.models.triage import of

KEYS = 20


@require_safe
def error(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, found.error_group(request, pk))


@require_POST
def triage(request: HttpRequest, pk: int) -> HttpResponse:
    """Status, owner and note as they were typed; `seen` is what the page showed."""
    group, posted = found.error_group(request, pk, Permission.HALT), request.POST
    try:
        row = triaging.triage(
            error_group_id=group.pk,
            status=posted.get("status", ""),
            until=_day(posted.get("until", "")),
            version=posted.get("version", ""),
            owner=_owner(group, posted.get("owner", "")),
            note=posted.get("note", ""),
            seen=posted.get("seen", ""),
            actor=found.actor(request.user),
            reason=posted.get("reason", ""),
        )
    except Refused as refused:
        status = 409 if isinstance(refused, Conflict) else 422
        return show(request, found.error_group(request, pk), refused=str(refused), status=status)
    messages.success(request, f"The error is {row.status}, owner: {row.owner_name or 'nobody'}.")
    return redirect("error", pk=group.pk)


def show(request: HttpRequest, group: ErrorGroup, *, refused: str = "", status: int = 200) -> HttpResponse:
    """The page; `refused` says why nothing was changed, what was typed stays in its fields."""
    viewer, said = access.of(request.user), of(group)
    stopped = _stopped_by(group)
    asked = Asked("stopped", group.flow.name, "", group.pk, "")
    context = {
        "group": group,
        "flow": group.flow,
        "readable": viewer.may(group.flow_id, Permission.PAYLOADS),
        "may_act": viewer.may(group.flow_id, Permission.HALT),
        "stopped": stopped.count(),
        "counted": counted([group.pk], wide=True)[group.pk],
        "keys": page_of(viewer, stopped, asked)[:KEYS],
        "fixes": fixes(group),
        "said": said,
        "statuses": Triage.Status.values,
        "people": _people(group),
        "typed": request.POST if refused else _as_typed(said),
        "refused": refused,
    }
    return render(request, "error/error.html", context, status=status)


def _stopped_by(group: ErrorGroup) -> QuarantineQuerySet:
    rows = Quarantine.objects.visible([group.flow_id]).unreleased()
    found_keys: QuarantineQuerySet = rows.filter(pk__in=group.keys.values("quarantine"))
    return found_keys


def _as_typed(said: Triage) -> dict[str, str]:
    """What is said now, as the form's fields hold it; what came back is open again until somebody says otherwise."""
    ignored = said.standing == Triage.Status.IGNORED and said.opens_after
    return {
        "status": said.standing,
        "until": f"{timezone.localtime(said.opens_after):%Y-%m-%d}" if ignored else "",
        "version": said.version,
        "owner": said.owner_id,
        "note": said.note,
    }


def _people(group: ErrorGroup) -> list[Actor]:
    """Who may be on it: those who may act on the flow, and whoever is on it already."""
    people = [found.actor(person) for person in access.people(group.flow_id, Permission.HALT)]
    said = of(group)
    if said.owner_id and said.owner_id not in {person.id for person in people}:
        people.append(Actor(said.owner_id, said.owner_name))
    return people


def _owner(group: ErrorGroup, asked: str) -> Actor | None:
    """Raises Refused for somebody who may not act on the flow."""
    known = {person.id: person for person in _people(group)}
    if asked and asked not in known:
        raise Refused("Owner: somebody who may act on this flow was expected.")
    return known.get(asked)


def _day(text: str) -> datetime | None:
    """The beginning of a day, `2026-12-05`, in the viewer's zone; None for what is no day."""
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None
