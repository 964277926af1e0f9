"""What is to happen to one event: apply it as it is, skip it with a reason, or use an amendment."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from console.access import Permission
from console.pages import found, key
from parking.errors import Conflict, Refused
from parking.models import EventState
from replay.decide import decide


@require_POST
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    event = found.event(request, pk, Permission.DECIDE)
    action, amendment = _action(request.POST.get("action", ""))
    try:
        decide(
            event_state_id=event.pk,
            action=action,
            amendment_id=amendment,
            reason=request.POST.get("reason", ""),
            actor=found.actor(request.user),
            seen_decision_at=_moment(request.POST.get("seen", "")),
        )
    except Refused as refused:
        return _refuse(request, event, refused)
    messages.success(request, f"Decided: {action} {event.event.event_type or event.event.event_id}.")
    return redirect(f"{reverse('key', args=[event.quarantine_id])}?event={event.pk}")


def _refuse(request: HttpRequest, event: EventState, refused: Refused) -> HttpResponse:
    status = 409 if isinstance(refused, Conflict) else 422
    if event.quarantine_id is None:
        messages.error(request, str(refused), extra_tags="poison")
        return redirect("event", pk=event.pk)
    quarantine = found.quarantine(request, event.quarantine_id)
    return key.show(request, quarantine, event=found.event(request, event.pk), refused=str(refused), status=status)


def _action(text: str) -> tuple[str, int | None]:
    """`skip` → ("skip", None); `amend 7` → ("amend", 7)."""
    action, _, amendment = text.partition(" ")
    return action, int(amendment) if amendment.isdecimal() and len(amendment) < 19 else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
