"""Failures with one fingerprint, as groups: the latest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from console.pages import found
from console.pages.error_counts import LOOKED_AT, LOOKED_AT_ONE, Counted, counted
from console.pages.keys import Asked, page_of
from parking.models import ErrorGroup, Flow, Quarantine
from parking.models.quarantine import EPOCH, MICROSECOND, QuarantineQuerySet

PAGE = 50
KEYS = 20


@dataclass(frozen=True, slots=True)
class Row:
    group: ErrorGroup
    counted: Counted
    readable: bool


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    viewer, flow = access.of(request.user), request.GET.get("flow", "").replace("\0", "")
    after = request.GET.get("after", "")
    groups = ErrorGroup.objects.filter(flow__in=viewer.flow_ids()).order_by("-last_seen", "-id")
    if flow:
        groups = groups.filter(flow__name=flow)
    page = list(_beyond(groups, after).select_related("flow__team")[: PAGE + 1])
    shown = page[:PAGE]
    numbers = counted([group.pk for group in shown])
    context = {
        "rows": [_row(request, group, numbers[group.pk]) for group in shown],
        "more": _cursor(shown) if len(page) > PAGE else "",
        "after": after,
        "flow": flow,
        "flows": Flow.objects.filter(pk__in=viewer.flow_ids()),
        "looked_at": LOOKED_AT,
    }
    return render(request, "errors/errors.html", context)


@require_safe
def error(request: HttpRequest, pk: int) -> HttpResponse:
    group = found.error_group(request, pk)
    viewer = access.of(request.user)
    stopped = _stopped_by(group)
    asked = Asked("stopped", group.flow.name, "", group.pk, "")
    context = {
        "row": _row(request, group, counted([pk], latest=LOOKED_AT_ONE, wide=True)[pk]),
        "group": group,
        "flow": group.flow,
        "keys": page_of(viewer, stopped, asked)[:KEYS],
        "stopped": stopped.count(),
        "looked_at": LOOKED_AT_ONE,
    }
    return render(request, "error/error.html", context)


def _stopped_by(group: ErrorGroup) -> QuarantineQuerySet:
    rows = Quarantine.objects.visible([group.flow_id]).unreleased()
    found_keys: QuarantineQuerySet = rows.filter(pk__in=group.events.values("quarantine"))
    return found_keys


def _row(request: HttpRequest, group: ErrorGroup, numbers: Counted) -> Row:
    return Row(group, numbers, access.of(request.user).may(group.flow_id, Permission.PAYLOADS))


def _cursor(groups: Sequence[ErrorGroup]) -> str:
    last = groups[-1]
    return f"{(last.last_seen - EPOCH) // MICROSECOND}.{last.pk}"


def _beyond(groups: QuerySet[ErrorGroup], cursor: str) -> QuerySet[ErrorGroup]:
    """What follows the last one of the page before; a cursor that is none gives the first page."""
    moment, _, number = cursor.partition(".")
    if not (moment.isdecimal() and number.isdecimal() and len(moment) < 17 and len(number) < 19):
        return groups
    at = EPOCH + int(moment) * MICROSECOND
    return groups.filter(Q(last_seen__lt=at) | Q(last_seen=at, pk__lt=int(number)))
