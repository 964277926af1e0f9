"""Try other values for an alarm rule before they are saved."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console.pages import flow, found
from console.pages.previews import of_typed
from parking.alarms.past import past

TOKEN = "csrfmiddlewaretoken"


@require_safe
def rule_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """For the values in the address: a fragment for htmx, else the flow's page with the form as it was typed."""
    row = found.rule(request, pk)
    if row.flow is None:
        raise Http404
    if TOKEN in request.GET:  # of the form that it was asked from: it does not belong into an address
        query = request.GET.copy()
        del query[TOKEN]
        return redirect(f"{request.path}?{query.urlencode()}#rule-{pk}")
    typed = request.GET.dict()
    if request.headers.get("HX-Request"):
        shown = of_typed(row, past(row.flow, timezone.now()), typed)
        return render(request, "flow/rule_preview.html", {"preview": shown})
    asked = found.flow(request, row.flow.name)
    return flow.show(request, asked, form=f"rule-{pk}", tried={pk: typed})
