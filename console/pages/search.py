"""One box over everything: keys, ids, coordinates, errors, and the words of payloads where they may be seen."""

from datetime import date

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from parking.models import Flow
from parking.search import find
from parking.search.grammar import Query, Unsearchable, parse


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    text, flow = request.GET.get("q", ""), request.GET.get("flow", "").replace("\0", "")
    viewer = access.of(request.user)
    flows = list(Flow.objects.filter(pk__in=viewer.flow_ids()))
    context: dict[str, object] = {
        "q": text.replace("\0", ""),
        "flow": flow,
        "flows": flows,
        "after": request.GET.get("after", ""),
    }
    try:
        query = parse(text)
    except Unsearchable as wrong:
        pointer = " " * (wrong.column - 1) + "^" if wrong.column and wrong.column < 200 else ""
        return render(request, "search/search.html", {**context, "wrong": wrong, "pointer": pointer}, status=400)
    if query.terms:
        context |= _found(request, query, [one for one in flows if flow in ("", one.name)], context["after"])
    return render(request, "search/search.html", context)


def _found(request: HttpRequest, query: Query, flows: list[Flow], after: object) -> dict[str, object]:
    viewer, visible = access.of(request.user), [one.pk for one in flows]
    readable = [pk for pk in visible if viewer.may(pk, Permission.PAYLOADS)]
    answer = find.find(query, visible=visible, readable=readable, before=str(after))
    unread = [one.name for one in flows if one.pk in answer.unreadable]
    return {
        "answer": answer,
        "keys": [] if after else find.keys(query, visible=visible),
        "readable": readable,
        "unread": unread,
        "words": _words(answer.looked_back_to),
    }


def _words(day: date | None) -> str:
    return f"{day.day} {day:%B %Y}" if day else ""
