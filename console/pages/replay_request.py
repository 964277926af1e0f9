"""Ask for the replay of a key: what would run, and the requester's reason."""

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.access import Permission
from console.pages import found, plan_rows, stepper, warnings
from parking.errors import Conflict, Refused
from parking.models import Quarantine
from replay import plan
from replay.models import Replay
from replay.request import request as request_replay

FOLLOWS = tuple(str(value) for value in Replay.Follow.values)
HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Choice:
    """One plan that may be asked for; `word` names it in the form: `follow <digest>`, `hold <digest>` for a repair."""

    word: str
    follow: str


@require_http_methods(["GET", "HEAD", "POST"])
def replay_request(request: HttpRequest, pk: int) -> HttpResponse:
    quarantine = found.quarantine(request, pk, Permission.REQUEST)
    if request.method != "POST":
        return _page(request, quarantine)
    follow, _, digest = request.POST.get("plan", "").partition(" ")
    try:
        replay = request_replay(
            quarantine_id=quarantine.pk,
            digest=_digest(digest),
            follow=follow if follow in Replay.Follow.values else Replay.Follow.FOLLOW,
            repair=follow == HOLD,
            reason=request.POST.get("reason", ""),
            actor=found.actor(request.user),
        )
    except Refused as refused:
        status = 409 if isinstance(refused, Conflict) else 422
        return _page(request, found.quarantine(request, pk, Permission.REQUEST), refused=str(refused), status=status)
    messages.success(request, "Requested. It runs once another person has approved exactly this plan.")
    return redirect("replay", pk=replay.pk)


def _page(request: HttpRequest, quarantine: Quarantine, *, refused: str = "", status: int = 200) -> HttpResponse:
    context = {
        "quarantine": quarantine,
        "flow": quarantine.flow,
        "refused": refused,
        "reason": request.POST.get("reason", ""),
        "living": quarantine.replays.living().first(),
        "stages": stepper.of_key(quarantine, stepper.decided(quarantine), None),
    }
    repair = request.GET.get("plan") == HOLD
    try:
        planned = plan.repair(quarantine) if repair else plan.build(quarantine)
    except Refused as undecided:
        return render(request, "replay/request.html", {**context, "undecided": str(undecided)}, status=max(status, 200))
    rows = plan_rows.of_plan(planned)
    pairs = warnings.amended(rows)
    context |= {
        "plan": planned,
        "rows": rows,
        "lines": plan_rows.lines(rows, whole=request.GET.get("steps") == "all"),
        "choices": _repair(planned) if repair else _follows(planned),
        "warnings": [
            *warnings.of_target(quarantine.flow, planned.steps),
            *warnings.of_rows(quarantine.flow, rows, pairs, readable=True),
        ],
    }
    return render(request, "replay/request.html", context, status=status)


def _follows(planned: plan.Plan) -> list[Choice]:
    return [Choice(f"{follow} {replace(planned, follow=follow).digest.hex()}", follow) for follow in FOLLOWS]


def _repair(planned: plan.Plan) -> list[Choice]:
    return [Choice(f"{HOLD} {planned.digest.hex()}", HOLD)]


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
