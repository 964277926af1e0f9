"""Every component in every state, for those who build pages: staff only."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.pages.stepper import Stage
from console.show.bars import bars

MARKS = ("poison", "held", "moving", "settled", "skipped", "warning", "unread", "none")
MEANINGS = ("poison", "held", "moving", "settled", "quiet")


@require_safe
def components(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_staff", False):
        raise Http404
    hours = [f"{hour}:00" for hour in range(24)]
    context = {
        "marks": MARKS,
        "meanings": MEANINGS,
        "sparkline": bars([2, 0, 1, 3] * 5 + [1, 17, 18, 2], hours, what="parked in 24 h", unit="hour"),
        "nothing": bars([0] * 24, hours, what="parked in 24 h", unit="hour"),
        "stages": [
            Stage("Quarantined", "done", "09:14:07"),
            Stage("Decided", "done", "1 amend, 5 apply"),
            Stage("Approved", "now", "waits for another person"),
            Stage("Replaying", "stopped", "stopped at 3 of 7"),
            Stage("Released", "later", "back to the line"),
        ],
        "hostile": "<b>bold?</b> \u202egnp.exe\x00 \x1b[31m",
        "long": "x" * 300,
    }
    return render(request, "components/components.html", context)
