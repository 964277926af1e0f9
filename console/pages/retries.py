"""Events that wait on a retry topic for their next try. Nothing can be done here: the consumer tries them itself."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console import access
from console.access import Permission
from parking.models import PendingRetry

PAGE = 200


@require_safe
def retries(request: HttpRequest) -> HttpResponse:
    viewer, name = access.of(request.user), request.GET.get("flow", "").replace("\0", "")
    rows = PendingRetry.objects.visible(viewer.flow_ids()).waiting(timezone.now())
    rows = rows.filter(flow__name=name) if name else rows
    context = {
        "rows": rows.select_related("flow")[:PAGE],
        "count": rows.count(),
        "flow": name,
        "readable": viewer.flow_ids(Permission.PAYLOADS),
    }
    return render(request, "retries/retries.html", context)
