"""Fetch what an event points at from its source topic."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.access import Permission
from console.pages import found
from parking import fetch as fetching
from parking.errors import Refused


@require_POST
def fetch(request: HttpRequest, pk: int) -> HttpResponse:
    """The button says from where; the page afterwards shows the value, or why it is not there."""
    state = found.event(request, pk, Permission.DECIDE)
    try:
        fetching.fetch(event_state_id=state.pk, actor=found.actor(request.user))
    except Refused as refused:
        messages.error(request, str(refused), extra_tags="poison")
    else:
        messages.success(request, "Key, value and headers were read from the source topic.")
    return redirect("event", pk=state.pk)
