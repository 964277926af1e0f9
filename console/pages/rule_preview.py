"""Try other values for an alarm rule before they are saved."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from console.pages import flow, found
from console.pages.previews import of_typed
from parking.alarms.past import past


@require_http_methods(["GET", "HEAD", "POST"])
def rule_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """For values in the address a fragment for htmx; for a form that was sent the flow's page as it was typed.

    A form is posted although nothing changes: its reason would stay in the address, and so in the access log.
    """
    row = found.rule(request, pk)
    if row.flow is None:
        raise Http404
    typed = (request.POST or request.GET).dict()
    if request.headers.get("HX-Request"):
        shown = of_typed(row, past(row.flow, timezone.now()), typed)
        return render(request, "flow/rule_preview.html", {"preview": shown})
    asked = found.flow(request, row.flow.name)
    return flow.show(request, asked, form=f"rule-{pk}", tried={pk: typed})
