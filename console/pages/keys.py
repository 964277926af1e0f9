"""The list of stopped keys, the deepest trouble first; filters and the page stand in the address."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Func, IntegerField, Min, Q, QuerySet, Sum, TextField, Value
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console import access
from console.access import Access, Permission
from console.pages import found
from parking import shared_topics
from parking.models import EventState, Flow, PendingRetry, Quarantine
from parking.models.event import EventStateQuerySet
from parking.models.quarantine import QuarantineQuerySet
from replay.models import Replay

PAGE = 50
STATES = {"stopped": ("open", "replaying"), "open": ("open",), "replaying": ("replaying",), "released": ("released",)}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for; what makes no sense is left out."""

    state: str
    flow: str
    text: str
    error: int | None
    after: str
    mine: bool = False  # only keys that are assigned to the viewer

    @classmethod
    def of(cls, query: QueryDict) -> "Asked":
        state, error = query.get("state", ""), query.get("error", "")
        return cls(
            state=state if state in STATES else "stopped",
            flow=query.get("flow", "").replace("\0", ""),
            text=query.get("text", "").strip().replace("\0", ""),
            error=int(error) if error.isdecimal() and len(error) < 19 else None,
            after=query.get("after", ""),
            mine=query.get("assigned") == "me",
        )

    @property
    def filtered(self) -> bool:
        return bool(self.flow or self.text or self.error or self.mine or self.state != "stopped")


@dataclass(frozen=True, slots=True)
class Row:
    """One quarantine: its latest replay, how often the key was stopped, and the error as far as it may be seen."""

    quarantine: Quarantine
    replay: Replay | None
    times: int
    error_type: str
    error_message: str | None


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    viewer, asked = access.of(request.user), Asked.of(request.GET)
    matching = find(viewer, asked)
    if asked.mine:
        matching = matching.filter(assignee_id=found.actor(request.user).id)
    rows = page_of(viewer, matching, asked)
    fingerprint = version(rows)
    if "have" in request.GET:
        return render(request, "keys/freshness.html", {"changed": request.GET["have"] != fingerprint})
    return render(
        request,
        "keys/keys.html",
        {
            "asked": asked,
            "rows": rows[:PAGE],
            "more": _cursor(rows, asked),
            "version": fingerprint,
            "flows": Flow.objects.filter(pk__in=viewer.flow_ids()),
            "totals": totals(matching),
            "not_understood": _raw(viewer).count(),
            "retries": PendingRetry.objects.visible(viewer.flow_ids()).waiting(timezone.now()).count(),
            "find": asked.text,
            "states": STATES,
        },
    )


def _raw(viewer: Access) -> EventStateQuerySet:
    return shared_topics.raw(visible=viewer.flow_ids(), readable=viewer.flow_ids(Permission.PAYLOADS))


def find(viewer: Access, asked: Asked) -> QuarantineQuerySet:
    """The visible quarantines that match. Words of error messages are found only where payloads may be seen."""
    rows: QuarantineQuerySet = Quarantine.objects.visible(viewer.flow_ids()).filter(state__in=STATES[asked.state])
    if asked.flow:
        rows = rows.filter(flow__name=asked.flow)
    if asked.error is not None:
        rows = rows.filter(error_groups__error_group=asked.error)
    return _with_text(rows, viewer, asked.text) if asked.text else rows


def _with_text(rows: QuarantineQuerySet, viewer: Access, text: str) -> QuarantineQuerySet:
    data = text.encode("utf-8", "replace")
    named = EventState.objects.filter(event_digest=hashlib.sha256(data).digest()).values("quarantine")
    in_key = Func(Value(data), F("hold_key__key"), function="POSITION", arg_joiner=" IN ", output_field=IntegerField())
    error_type = Func(F("first_error"), Value(": "), Value(1), function="split_part", output_field=TextField())
    readable = Q(first_error__icontains=text, flow__in=viewer.flow_ids(Permission.PAYLOADS))
    told = rows.annotate(in_key=in_key, error_type=error_type)
    return told.filter(Q(in_key__gt=0) | Q(error_type__icontains=text) | readable | Q(pk__in=named))


def page_of(viewer: Access, matching: QuarantineQuerySet, asked: Asked) -> list[Row]:
    """The rows of this page and one more, which says that there is another page."""
    ordered = matching.newest(asked.after) if asked.state == "released" else matching.by_trouble(asked.after)
    shown = list(ordered.select_related("flow__team", "hold_key")[: PAGE + 1])
    replays, times = latest_replays(shown), times_stopped(shown)
    return [_row(viewer, one, replays.get(one.pk), times[one.hold_key_id]) for one in shown]


def _row(viewer: Access, quarantine: Quarantine, replay: Replay | None, times: int) -> Row:
    error_type, _, message = quarantine.first_error.partition(": ")
    readable = viewer.may(quarantine.flow_id, Permission.PAYLOADS)
    return Row(quarantine, replay, times, error_type, message if readable else None)


def latest_replays(quarantines: Sequence[Quarantine]) -> dict[int, Replay]:
    """The newest replay of each of these, by quarantine id: one query."""
    rows = Replay.objects.filter(quarantine__in=[one.pk for one in quarantines])
    newest = rows.order_by("quarantine_id", "-id").distinct("quarantine_id").values("pk")
    return {replay.quarantine_id: replay for replay in Replay.objects.with_progress().filter(pk__in=newest)}


def times_stopped(quarantines: Sequence[Quarantine]) -> Counter[int]:
    """How often the key of each was ever stopped, this time included, by hold key id: one query."""
    rows = Quarantine.objects.filter(hold_key__in=[one.hold_key_id for one in quarantines])
    return Counter(dict(rows.values_list("hold_key").annotate(times=Count("pk"))))


def totals(matching: QuerySet[Quarantine]) -> dict[str, object]:
    """Over all pages: keys, flows, events that wait, and the oldest of them."""
    return matching.aggregate(
        keys=Count("pk"),
        flows=Count("flow", distinct=True),
        waiting=Sum(F("poison") + F("held"), default=0),
        oldest=Min("oldest_at"),
    )


def version(rows: Sequence[Row]) -> str:
    """A short word that changes when anything on the page does."""
    facts = [
        (row.quarantine.pk, row.quarantine.state, row.quarantine.depth, row.replay and row.replay.state) for row in rows
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]


def _cursor(rows: Sequence[Row], asked: Asked) -> str:
    if len(rows) <= PAGE:
        return ""
    last = rows[PAGE - 1].quarantine
    return str(last.pk) if asked.state == "released" else last.trouble_cursor
