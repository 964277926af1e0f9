"""Be on a key, or leave it to others."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.access import Permission
from console.pages import found
from parking import assign as assigning
from parking.errors import Refused


@require_POST
def assign(request: HttpRequest, pk: int) -> HttpResponse:
    """`to` is `me` or empty; `seen` is who was on it when the page was shown."""
    key, me = found.quarantine(request, pk, Permission.HALT), found.actor(request.user)
    to = me if request.POST.get("to") == "me" else None
    try:
        assigning.assign(quarantine_id=key.pk, to=to, actor=me, seen=request.POST.get("seen", ""))
    except Refused as refused:
        messages.error(request, str(refused), extra_tags="poison")
    else:
        messages.success(request, "The key is assigned to you." if to else "The key is assigned to nobody.")
    return redirect("key", pk=key.pk)
