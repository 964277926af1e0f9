"""One replay: the plan to approve or reject, its progress while it runs, its report afterwards."""

import base64
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console import access, schemas
from console.access import Permission
from console.looks import look
from console.pages import found, plan_rows, stepper, warnings
from console.pages.key import permissions
from console.pages.progress import progress
from console.show import difference
from parking.errors import Conflict, Refused
from parking.headers import unpack
from parking.models import Cluster
from replay import approve as approval
from replay import plan
from replay.amend import violations
from replay.cancel import cancel as cancel_replay
from replay.models import Replay
from replay.pause import pause as pause_replay
from replay.pause import resume as resume_replay


@require_safe
def replay(request: HttpRequest, pk: int) -> HttpResponse:
    one = _with_progress(found.replay(request, pk))
    if "was" in request.GET:
        return _live(request, one)
    return _page(request, one)


@require_safe
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """What ran, as JSON: who, when, why, the digest, and each step with its outcome. No payloads."""
    one = _with_progress(found.replay(request, pk))
    body = {
        "replay": one.pk,
        "flow": one.flow.name,
        "hold_key_base64": _base64(one.quarantine.hold_key.key),
        "state": one.state,
        "digest": bytes(one.digest).hex(),
        "requested": {"by": one.requested_by_name, "at": one.requested_at, "reason": one.reason},
        "decided": {"by": one.decided_by_name, "at": one.decided_at, "reason": one.decision_reason},
        "started_at": one.started_at,
        "finished_at": one.finished_at,
        "token": one.token,
        "stop_reason": one.stop_reason,
        "steps": [_reported(row) for row in plan_rows.of_replay(one)],
    }
    response = JsonResponse(body, json_dumps_params={"indent": 2})
    response["Content-Disposition"] = f'attachment; filename="replay-{pk}.json"'
    return response


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    one = found.replay(request, pk, Permission.APPROVE)
    return _act(
        request,
        one,
        lambda: approval.approve(
            replay_id=one.pk,
            digest=_digest(request.POST.get("digest", "")),
            reason=request.POST.get("reason", ""),
            memory_confirmed=request.POST.get("memory_confirmed") == "on",
            actor=found.actor(request.user),
        ),
        "Approved. A worker starts it at once.",
    )


@require_POST
def reject(request: HttpRequest, pk: int) -> HttpResponse:
    one = found.replay(request, pk, Permission.APPROVE)
    reason, actor = request.POST.get("reason", ""), found.actor(request.user)
    return _act(request, one, lambda: approval.reject(replay_id=one.pk, reason=reason, actor=actor), "Rejected.")


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    one = found.replay(request, pk, Permission.HALT)
    reason, actor = request.POST.get("reason", ""), found.actor(request.user)
    return _act(request, one, lambda: cancel_replay(replay_id=one.pk, reason=reason, actor=actor), "Stopped.")


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    one, actor = found.replay(request, pk, Permission.HALT), found.actor(request.user)
    return _act(request, one, lambda: pause_replay(replay_id=one.pk, actor=actor), "Paused: nothing more is sent.")


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    one, actor = found.replay(request, pk, Permission.HALT), found.actor(request.user)
    return _act(request, one, lambda: resume_replay(replay_id=one.pk, actor=actor), "It goes on.")


def _act(request: HttpRequest, one: Replay, verb: Callable[[], Replay], done: str) -> HttpResponse:
    """Call the verb and go back to the page; where it refuses, the page says why and keeps what was typed."""
    try:
        verb()
    except Refused as refused:
        status = 409 if isinstance(refused, Conflict) else 422
        return _page(request, _with_progress(found.replay(request, one.pk)), refused=str(refused), status=status)
    messages.success(request, done)
    return redirect("replay", pk=one.pk)


def _page(request: HttpRequest, one: Replay, *, refused: str = "", status: int = 200) -> HttpResponse:
    context = _running(request, one)
    rows = context["rows"]
    pairs = warnings.amended(rows)
    waits = one.state == Replay.State.REQUESTED
    about = _cautions(request, one, rows, pairs) if waits else []
    context |= {
        "warnings": about,
        "grave": any(warning.grave for warning in about),
        "amendments": _shown(request, one, pairs),
        "beyond_memory": approval.beyond_memory(one) if waits else 0,
        "refused": refused,
        "typed": request.POST.get("reason", ""),
    }
    return render(request, "replay/replay.html", context, status=status)


def _cautions(
    request: HttpRequest, one: Replay, rows: list[plan_rows.Row], pairs: list[warnings.Amended]
) -> list[warnings.Caution]:
    return [
        *warnings.of_request(one),
        *warnings.of_target(one.flow, plan.frozen(one).steps),
        *warnings.of_rows(one.flow, rows, pairs, readable=_readable(request, one)),
    ]


def _live(request: HttpRequest, one: Replay) -> HttpResponse:
    """The part that moves; what can be clicked is sent only when it changed."""
    context = _running(request, one)
    return render(request, "replay/live.html", {**context, "oob": True, "moved": request.GET["was"] != one.state})


def _running(request: HttpRequest, one: Replay) -> dict[str, Any]:
    rows = plan_rows.of_replay(one)
    actor, may = found.actor(request.user), permissions(request, one.flow_id)
    own = approval.own(one, actor.id)
    return {
        "replay": one,
        "flow": one.flow,
        "quarantine": one.quarantine,
        "rows": rows,
        "lines": plan_rows.lines(rows, whole=request.GET.get("steps") == "all"),
        "stages": _stages(one, for_you=may["approve"] and not own),
        "progress": progress(one, rows),
        "may": may,
        "own": own,
        "me": actor.id,
    }


def _stages(one: Replay, *, for_you: bool) -> list[stepper.Stage]:
    quarantined = stepper.Stage("Quarantined", stepper.DONE, "", one.quarantine.opened_at)
    decided = stepper.Stage("Decided", stepper.DONE, stepper.actions_of(one))
    return [quarantined, decided, *stepper.of_replay(one, for_you=for_you)]


def _shown(request: HttpRequest, one: Replay, pairs: list[warnings.Amended]) -> list[dict[str, Any]]:
    """The differences, where payloads may be seen; looking at them is journalled."""
    if not _readable(request, one):
        return [{"row": pair.row, "masked": True} for pair in pairs]
    for pair in pairs:
        look(event=pair.row.state, actor=found.actor(request.user), what="plan")
    return [
        {
            "row": pair.row,
            "value": difference.in_one(pair.before, pair.after, _meant(one.flow.cluster, pair)),
            "headers": _headers(pair),
            "valid": one.flow.schema is not None and not violations(one.flow, pair.after),
        }
        for pair in pairs
    ]


def _meant(cluster: Cluster, pair: warnings.Amended) -> difference.Meant:
    return difference.Meant(
        schemas.read(cluster, pair.before, unpack(pair.before_headers) if pair.before_headers else ()),
        schemas.read(cluster, pair.after, unpack(pair.after_headers)),
    )


def _readable(request: HttpRequest, one: Replay) -> bool:
    return access.of(request.user).may(one.flow_id, Permission.PAYLOADS)


def _headers(pair: warnings.Amended) -> list[difference.Row]:
    if pair.before_headers == pair.after_headers:
        return []
    before, after = (difference.header_lines(unpack(one)) for one in (pair.before_headers, pair.after_headers))
    return difference.in_one(before, after)


def _with_progress(one: Replay) -> Replay:
    """The replay with done, in_flight, to_go and total counted."""
    counted = Replay.objects.with_progress().get(pk=one.pk)
    for name in ("done", "in_flight", "to_go", "total"):
        setattr(one, name, getattr(counted, name))
    return one


def _reported(row: plan_rows.Row) -> dict[str, object]:
    event = row.event
    return {
        "ordinal": row.ordinal,
        "event_id": event.event_id,
        "event_type": event.event_type,
        "source": [event.source_topic, event.source_partition, event.source_offset],
        "action": row.action,
        "amendment": row.amendment.version if row.amendment else None,
        "reason": row.reason,
        "outcome": row.outcome or "pending",
        "outcome_reason": row.outcome_reason,
        "followed": row.followed,
        "at": row.at,
    }


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _base64(data: bytes | memoryview) -> str:
    return base64.b64encode(data).decode()
