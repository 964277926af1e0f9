"""One incident: what fires, what was told to whom and how they answered, and what can be done about it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from console import access
from console.access import Permission
from console.notifications import resend as resending
from console.pages import found
from console.pages.timeline import timeline
from console.show.alarms import short
from parking.alarms import acknowledge as acknowledging
from parking.alarms import escalate as escalating
from parking.alarms import resolving
from parking.alarms import silence as silencing
from parking.errors import Conflict, Refused
from parking.models import Hook, Incident, Silence

SILENCES = {"1": "1 hour", "4": "4 hours", "12": "12 hours", "24": "1 day", "72": "3 days", "168": "7 days"}


@require_safe
def incident(request: HttpRequest, pk: int) -> HttpResponse:
    row = found.incident(request, pk)
    if "live" in request.GET:
        context = {"incident": row, "moments": timeline(row), "may_act": _may_act(request, row)}
        return render(request, "incident/timeline.html", context)
    return show(request, row)


def show(request: HttpRequest, row: Incident, *, refused: str = "", status: int = 200) -> HttpResponse:
    """The page; `refused` says why the last action was not done, what was typed stays in its field."""
    context = {
        "incident": row,
        "short": short(row.kind, row.detail),
        "moments": timeline(row),
        "facts": facts(row),
        "silence": Silence.objects.filter(alarm=row.alarm, until__gt=timezone.now()).first(),
        "silences": SILENCES,
        "may_act": _may_act(request, row),
        "fallback": Hook.objects.hearing(row).filter(fallback=True).exclude(deliveries__incident=row).count(),
        "oldest_key": row.detail.get("oldest_key") if row.flow_id else None,
        "refused": refused,
        "typed": request.POST.get("reason", ""),
    }
    return render(request, "incident/incident.html", context, status=status)


@require_POST
def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(
        request, pk, acknowledging.acknowledge, "Acknowledged: everybody who was paged hears that you are on it."
    )


@require_POST
def silence(request: HttpRequest, pk: int) -> HttpResponse:
    hours = request.POST.get("hours", "")

    def keep_silent(**given: object) -> object:
        if hours not in SILENCES:
            raise Refused("Choose how long nobody needs to be told.")
        return silencing.silence(until=timezone.now() + timedelta(hours=int(hours)), **given)  # type: ignore[arg-type]

    return _act(request, pk, keep_silent, f"Silent for {SILENCES.get(hours, '')}. What is open is still shown here.")


@require_POST
def end_silence(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, silencing.end_silence, "The silence is over: what opens is told again.")


@require_POST
def escalate(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, escalating.escalate, "Escalated: the team's fallback hooks are told now.")


@require_POST
def resolve(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, resolving.resolve_incident, "Resolved, and told to everybody who was paged.")


@require_POST
def send_again(request: HttpRequest, pk: int) -> HttpResponse:
    """One delivery, and what its hook was told afterwards."""
    row = found.delivery(request, pk, Permission.HALT)
    try:
        sent = resending.resend(
            delivery_id=row.pk, actor=found.actor(request.user), reason=request.POST.get("reason", "")
        )
        messages.success(request, f"{row.hook} is told again: {len(sent)} to send, due now.")
    except Refused as refused:
        messages.error(request, f"Not sent again. {refused}", extra_tags="poison")
    to = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(to, allowed_hosts=None)
    return redirect(to if ours else reverse("incidents"))


def _act(request: HttpRequest, pk: int, verb: Callable[..., object], done: str) -> HttpResponse:
    row = found.incident(request, pk, Permission.HALT)
    try:
        verb(incident_id=row.pk, actor=found.actor(request.user), reason=request.POST.get("reason", ""))
    except Refused as refused:
        status = 409 if isinstance(refused, Conflict) else 422
        return show(request, found.incident(request, pk), refused=str(refused), status=status)
    messages.success(request, done)
    return redirect("incident", pk=row.pk)


TIMES = {
    "occurred_at": "Head occurred",
    "parked_at": "Head parked",
    "stored_at": "Head stored",
    "last_beat_at": "Last sign of life",
}
SAID = ("oldest_key", "value", "threshold", "source_topic")  # in the summary, or as a link


def facts(row: Incident) -> list[tuple[str, str | int | datetime]]:
    """What goes with the opening, with names for people: times first, in their order, as times."""
    times = [name for name in TIMES if name in row.detail]
    others = [name for name in row.detail if name not in (*TIMES, *SAID)]
    return [_fact(name, row.detail[name]) for name in (*times, *others)]


def _fact(name: str, value: str | int) -> tuple[str, str | int | datetime]:
    if name in TIMES:
        try:
            return TIMES[name], datetime.fromisoformat(str(value))
        except ValueError:
            return TIMES[name], value
    return name.replace("_", " ").capitalize(), value


def _may_act(request: HttpRequest, row: Incident) -> bool:
    held = access.of(request.user).flow_ids(Permission.HALT)
    return row.flow_id in held if row.flow_id else Incident.objects.visible(held).filter(pk=row.pk).exists()
