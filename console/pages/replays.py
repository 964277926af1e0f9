"""All replays: running first, then those that wait for approval, then history."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access
from console.access import Access, Permission
from console.pages import found
from replay.models import Replay
from replay.models.replay import ReplayQuerySet

PAGE = 50
MOST_LIVING = 200


@require_safe
def replays(request: HttpRequest) -> HttpResponse:
    viewer, after = access.of(request.user), request.GET.get("after", "")
    ended = list(_ended(viewer, after)[: PAGE + 1])
    me = found.actor(request.user).id
    waiting = [] if after else list(_visible(viewer).waiting().order_by("expires_at", "id")[:MOST_LIVING])
    context = {
        "moving": [] if after else list(_visible(viewer).moving().order_by("id")[:MOST_LIVING]),
        "for_you": [one for one in waiting if waits_for(one, viewer, me)],
        "for_others": [one for one in waiting if not waits_for(one, viewer, me)],
        "ended": ended[:PAGE],
        "more": ended[PAGE - 1].pk if len(ended) > PAGE else "",
        "after": after,
    }
    return render(request, "replays/live.html" if "live" in request.GET else "replays/replays.html", context)


def _visible(viewer: Access) -> ReplayQuerySet:
    rows = Replay.objects.with_progress().filter(flow__in=viewer.flow_ids())
    return rows.select_related("flow__team", "quarantine__hold_key")


def _ended(viewer: Access, after: str) -> ReplayQuerySet:
    rows = _visible(viewer).ended().order_by("-id")
    return rows.filter(pk__lt=int(after)) if after.isdecimal() and len(after) < 19 else rows


def waits_for(replay: Replay, viewer: Access, me: str) -> bool:
    """Whether this viewer is one who may approve it."""
    mine = me == replay.requested_by_id or me in replay.authors
    return viewer.may(replay.flow_id, Permission.APPROVE) and not mine
