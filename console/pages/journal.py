"""Who did what, when and why: of the flows that the viewer may see, latest first.

An entry that belongs to no flow (a hook of a whole team, an account) is seen by whoever did it, and, where it names a
team, by the owners of that team's flows: it may tell of settings, and those are theirs.
"""

from collections.abc import Sequence

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access, looks
from console.access import Permission
from console.pages import found
from console.pages.paging import number
from console.show.sentences import VERBS
from parking.models import Flow, JournalEntry, ParkedEvent

PAGE = 100


@require_safe
def journal(request: HttpRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "").replace("\0", "") for name in ("flow", "verb", "person", "after")}
    rows = _asked(visible(request), asked)
    entries = list(rows.select_related("flow").order_by("-id")[: PAGE + 1])
    shown = entries[:PAGE]
    context = {
        **asked,
        "entries": shown,
        "more": shown[-1].pk if len(entries) > PAGE else "",
        "types": types(shown),
        "me": found.actor(request.user).id,
        "flows": Flow.objects.filter(pk__in=access.of(request.user).flow_ids()),
        "verbs": VERBS,
        "filtered": any(asked.values()),
    }
    return render(request, "journal/journal.html", context)


def visible(request: HttpRequest) -> QuerySet[JournalEntry]:
    """The entries that this viewer may see."""
    viewer = access.of(request.user)
    owned = Flow.objects.filter(pk__in=viewer.flow_ids(Permission.SETTINGS)).values_list("team_id", flat=True)
    mine = Q(actor_id=found.actor(request.user).id) | Q(detail__team__in=list(owned))
    return JournalEntry.objects.filter(Q(flow__in=viewer.flow_ids()) | Q(mine, flow__isnull=True))


def _asked(rows: QuerySet[JournalEntry], asked: dict[str, str]) -> QuerySet[JournalEntry]:
    if asked["flow"]:
        rows = rows.filter(flow__name=asked["flow"])
    rows = rows.filter(verb=asked["verb"]) if asked["verb"] else rows.exclude(verb=looks.VERB)
    if asked["person"]:
        rows = rows.filter(actor_name=asked["person"])
    before = number(asked["after"])
    return rows if before is None else rows.filter(pk__lt=before)


def types(entries: Sequence[JournalEntry]) -> dict[int, str]:
    """Event type, or id, by event id, for the entries' sentences; what retention dropped has none."""
    named = {entry.event_id for entry in entries if entry.event_id}
    rows = ParkedEvent.objects.filter(pk__in=named).values_list("pk", "event_type", "event_id")
    return {pk: event_type or event_id for pk, event_type, event_id in rows}
