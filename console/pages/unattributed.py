"""Records that belong to no key: in no format that we know, or said to be ours and not readable. Nothing is hidden."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from parking import shared_topics

PAGE = 50


@require_safe
def unattributed(request: HttpRequest) -> HttpResponse:
    viewer, after = access.of(request.user), request.GET.get("after", "")
    readable = viewer.flow_ids(Permission.PAYLOADS)
    rows = shared_topics.raw(visible=viewer.flow_ids(), readable=readable)
    if after.isdecimal() and len(after) < 19:
        rows = rows.filter(pk__lt=int(after))
    found = list(rows.select_related("event", "flow__team")[: PAGE + 1])
    context = {
        "events": found[:PAGE],
        "more": found[PAGE - 1].pk if len(found) > PAGE else "",
        "readable": readable,
        "after": after,
    }
    return render(request, "unattributed/unattributed.html", context)
