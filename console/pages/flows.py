"""The flows that the viewer may see: what each is, who owns it, and by which rules it goes back."""

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access


@require_safe
def flows(request: HttpRequest) -> HttpResponse:
    rules = Count("alarm_rules", filter=Q(alarm_rules__enabled=True))
    rows = access.flows(request.user).select_related("team", "cluster").annotate(rules=rules)
    return render(request, "flows/flows.html", {"flows": rows})
