"""Failures with one fingerprint, as groups, sorted by trouble: what stops keys and grows comes first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from console.pages import found
from console.pages.error_counts import Counted, Place, by_trouble, counted
from console.pages.keys import Asked, page_of
from parking.models import ErrorGroup, Flow, Quarantine
from parking.models.quarantine import QuarantineQuerySet

PAGE = 50
KEYS = 20
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Row:
    """`stopped` is how many keys it stops now; `growing` where another event came within the hour."""

    group: ErrorGroup
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
    places = by_trouble(ids, _place(after), PAGE + 1)
    context = {
        "rows": _rows(request, places[:PAGE]),
        "more": _cursor(places[PAGE - 1]) if len(places) > PAGE else "",
        "after": after,
        "flow": flow,
        "flows": flows,
    }
    return render(request, "errors/errors.html", context)


@require_safe
def error(request: HttpRequest, pk: int) -> HttpResponse:
    group = found.error_group(request, pk)
    viewer = access.of(request.user)
    stopped = _stopped_by(group)
    asked = Asked("stopped", group.flow.name, "", group.pk, "")
    readable = viewer.may(group.flow_id, Permission.PAYLOADS)
    row = Row(group, counted([pk], wide=True)[pk], readable, stopped.count())
    context = {"row": row, "group": group, "flow": group.flow, "keys": page_of(viewer, stopped, asked)[:KEYS]}
    return render(request, "error/error.html", context)


def _stopped_by(group: ErrorGroup) -> QuarantineQuerySet:
    rows = Quarantine.objects.visible([group.flow_id]).unreleased()
    found_keys: QuarantineQuerySet = rows.filter(pk__in=group.keys.values("quarantine"))
    return found_keys


def _rows(request: HttpRequest, places: Sequence[Place]) -> list[Row]:
    viewer, ids = access.of(request.user), [place.id for place in places]
    groups = ErrorGroup.objects.select_related("flow__team").in_bulk(ids)
    numbers = counted(ids)
    return [
        Row(
            group := groups[place.id],
            numbers[place.id],
            viewer.may(group.flow_id, Permission.PAYLOADS),
            place.keys,
            place.keys > 0 and group.last_seen > timezone.now() - HOUR,
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
