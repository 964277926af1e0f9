"""What fires, what somebody is on, and what is over; and the pages that did not get through."""

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console import access
from console.access import Access, Permission
from parking.models import Delivery, Flow, Incident
from parking.models.hook import DeliveryQuerySet
from parking.models.incident import IncidentQuerySet

PAGE = 50
MOST_OPEN = 200
MOST_FAILED = 20


@require_safe
def incidents(request: HttpRequest) -> HttpResponse:
    viewer, after, flow = access.of(request.user), request.GET.get("after", ""), request.GET.get("flow", "")
    rows = _of(viewer, flow.replace("\0", ""))
    open_ones = [] if after else list(rows.by_trouble()[:MOST_OPEN])
    over = list(rows.resolved(after)[: PAGE + 1])
    context = {
        "firing": [one for one in open_ones if one.state == Incident.State.FIRING],
        "acknowledged": [one for one in open_ones if one.state == Incident.State.ACKNOWLEDGED],
        "resolved": over[:PAGE],
        "more": over[PAGE - 1].pk if len(over) > PAGE else "",
        "after": after,
        "flow": flow,
        "flows": Flow.objects.filter(pk__in=viewer.flow_ids()),
        "failed": [] if after else list(failed(viewer)[:MOST_FAILED]),
        "resend": viewer.flow_ids(Permission.HALT),
    }
    return render(request, "incidents/live.html" if "live" in request.GET else "incidents/incidents.html", context)


def failed(viewer: Access) -> DeliveryQuerySet:
    """Deliveries that were given up, of hooks and of incidents that the viewer may see."""
    flows = viewer.flow_ids()
    seen = Q(incident__isnull=True) | Q(incident__in=Incident.objects.visible(flows))
    rows: DeliveryQuerySet = Delivery.objects.visible(flows).filter(seen).failed()
    return rows.select_related("hook", "incident__flow", "incident__team")


def _of(viewer: Access, flow: str) -> IncidentQuerySet:
    rows: IncidentQuerySet = Incident.objects.visible(viewer.flow_ids()).select_related("flow", "team")
    return rows.filter(flow__name=flow) if flow else rows
