"""Failures with one fingerprint, as groups, sorted by trouble: what stops keys and grows comes first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from console.pages import found
from console.pages.error_counts import Counted, Place, by_trouble, counted
from parking.models import ErrorGroup, Flow, Triage
from parking.models.triage import of

PAGE = 50
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Row:
    """`stopped` is how many keys it stops now; `growing` where another event came within the hour."""

    group: ErrorGroup
    said: Triage
    counted: Counted
    readable: bool
    stopped: int
    growing: bool = False


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    viewer, flow = access.of(request.user), request.GET.get("flow", "").replace("\0", "")
    after = request.GET.get("after", "")
    flows = Flow.objects.filter(pk__in=viewer.flow_ids())
    ids = [one.pk for one in flows if flow in ("", one.name)]
    status, owner = _status(request.GET.get("status", "")), request.GET.get("owner", "").replace("\0", "")
    places = by_trouble(ids, _place(after), PAGE + 1, status=status, owner=_owner(request, owner))
    context = {
        "rows": _rows(request, places[:PAGE]),
        "more": _cursor(places[PAGE - 1]) if len(places) > PAGE else "",
        "after": after,
        "flow": flow,
        "flows": flows,
        "status": status,
        "statuses": Triage.Status.values,
        "owner": owner,
        "owners": _owners(flows),
    }
    return render(request, "errors/errors.html", context)


def _status(asked: str) -> str:
    return asked if asked in Triage.Status.values else ""


def _owner(request: HttpRequest, asked: str) -> str | None:
    """The id that is looked for: the viewer's for `me`, empty for `nobody`; None for everybody's."""
    return {"": None, "me": found.actor(request.user).id, "nobody": ""}.get(asked, asked)


def _owners(flows: QuerySet[Flow]) -> list[tuple[str, str]]:
    """(id, name) of those who are on an error of these flows."""
    rows = Triage.objects.filter(error_group__flow__in=flows).exclude(owner_id="")
    return list(rows.values_list("owner_id", "owner_name").distinct().order_by("owner_name"))


def _rows(request: HttpRequest, places: Sequence[Place]) -> list[Row]:
    viewer, ids = access.of(request.user), [place.id for place in places]
    groups = ErrorGroup.objects.select_related("flow__team", "triage").in_bulk(ids)
    numbers = counted(ids)
    return [
        Row(
            group := groups[place.id],
            of(group),
            numbers[place.id],
            viewer.may(group.flow_id, Permission.PAYLOADS),
            place.keys,
            place.growing and group.last_seen > timezone.now() - HOUR,
        )
        for place in places
    ]


def _cursor(place: Place) -> str:
    return f"{int(place.growing)}.{place.keys}.{place.id}.{place.last_seen}"


def _place(cursor: str) -> Place | None:
    """Where the page before ended; None for a cursor that is none, which gives the first page."""
    growing, keys, number, last_seen = [*cursor.split(".", 3), "", "", ""][:4]
    if not all(text.isascii() and text.isdecimal() and len(text) < 19 for text in (growing, keys, number)):
        return None
    try:
        at = datetime.fromisoformat(last_seen)
    except ValueError:
        return None
    return Place(growing == "1", int(keys), at.isoformat(), int(number)) if at.tzinfo else None
