"""Whether Siding itself works: its processes, how far they are, what failed, and what to do.

What a process notes may name any flow, so its words are for those who see all flows; the others see that it lives.
"""

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
from console.pages import intake_facts, reach
from console.pages.incidents import MOST_FAILED, failed
from console.pages.reach import Reach
from parking import shared_topics
from parking.models import Beat, Delivery, Flow, IntakePosition
from parking.search import position
from parking.topic_pattern import is_pattern

PROCESSES = {
    "intake": ("reads parking topics", "manage.py intake", 60),
    "index": ("makes what was stored findable", "manage.py index", 60),
    "watch": ("deadlines, alarms, retention", "manage.py watch", 60),
    "worker": ("runs replays", "celery -A console worker", 60),
}
"""What each does, the command that starts it, and from how many seconds of silence on it is late."""


@dataclass(frozen=True, slots=True)
class Process:
    """One kind of process; `beats` are those that gave a sign of life within the day, the latest first."""

    name: str
    does: str
    command: str
    last: datetime | None
    late: bool
    beats: Sequence[Beat]


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    viewer = access.of(request.user)
    ids = viewer.flow_ids()
    seen = Flow.objects.filter(pk__in=ids)
    rows = processes()
    context = {
        "processes": rows,
        "all_well": not any(row.late for row in rows),
        "sees_all": Flow.objects.count() == len(ids),
        "lag": position.lag(ids),
        "topics": topics(seen),
        "failed": list(failed(viewer)[:MOST_FAILED]),
        "open": Delivery.objects.visible(ids).open().count(),
        **intake_facts.of(viewer, list(seen)),
        "not_understood": shared_topics.raw(visible=ids, readable=viewer.flow_ids(Permission.PAYLOADS)).count(),
        "resend": viewer.flow_ids(Permission.HALT),
    }
    return render(request, "status/live.html" if "live" in request.GET else "status/status.html", context)


def processes() -> list[Process]:
    beats = list(Beat.objects.filter(at__gt=timezone.now() - timedelta(days=1)).order_by("process", "-at"))
    return [_process(name, [beat for beat in beats if beat.process == name]) for name in PROCESSES]


def _process(name: str, beats: Sequence[Beat]) -> Process:
    does, command, seconds = PROCESSES[name]
    last = beats[0].at if beats else None
    late = last is None or timezone.now() - last > timedelta(seconds=seconds)
    return Process(name, does, command, last, late, beats[:10])


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    reach: Reach


def topics(flows: QuerySet[Flow]) -> list[Topic]:
    """The parking topics of these flows, those that a pattern found included, and how far intake is in each."""
    known = list(flows)
    by_name: dict[str, list[IntakePosition]] = {name: [] for flow in known for name in _named(flow)}
    for one in reach.positions(known):
        by_name.setdefault(one.topic.name, []).append(one)
    return [Topic(name, reach.of(by_name[name])) for name in sorted(by_name)]


def _named(flow: Flow) -> list[str]:
    return [name for name in flow.parking_topics if not is_pattern(name)]
