"""Edit a copy of an event: value and headers, with the schema's errors and the difference beside the editor."""

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from console.access import Permission
from console.pages import found
from console.pages.amend_form import HeaderField, Typed, header_fields, parse, start
from console.pages.selected import Selected, select
from console.show import difference
from console.show.edit import NotEditable
from parking.errors import Conflict, Refused
from parking.headers import unpack
from parking.models import EventState
from parking.record import Headers
from replay.amend import amend as write_amendment
from replay.amend import violations


@dataclass(frozen=True, slots=True)
class Base:
    """Where the edit starts: the newest version; `version` 1 is the original."""

    version: int
    value: bytes | None
    headers: Headers


@require_http_methods(["GET", "HEAD", "POST"])
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    event = found.event(request, pk, Permission.AMEND)
    selected = select(request, event, what="amend")
    if selected.stored is None or event.quarantine_id is None or event.state != EventState.State.PARKED:
        return render(request, "amend/impossible.html", {"state": event, "selected": selected}, status=409)
    base = _base(selected, request.POST.get("seen", ""))
    if request.method != "POST":
        return _page(request, selected, base, start(base.value, base.headers))
    return _save(request, selected, base)


@require_POST
def check(request: HttpRequest, pk: int) -> HttpResponse:
    """What the schema says about the typed value, and the difference: the part beside the editor."""
    event = found.event(request, pk, Permission.AMEND)
    selected = select(request, event, what="amend")
    base = _base(selected, request.POST.get("seen", ""))
    typed = _parsed(request, base)
    if request.headers.get("HX-Request"):
        return render(request, "amend/beside.html", _beside(selected, base, typed))
    return _page(request, selected, base, typed)


def _save(request: HttpRequest, selected: Selected, base: Base) -> HttpResponse:
    typed = _parsed(request, base)
    if typed.wrong:
        return _page(request, selected, base, typed, refused=typed.wrong, status=422)
    event = selected.event
    try:
        amendment = write_amendment(
            event_state_id=event.pk,
            value=typed.value,
            headers=typed.headers,
            actor=found.actor(request.user),
            reason=request.POST.get("reason", ""),
            seen_version=base.version,
        )
    except Conflict as conflict:  # what was typed stays, on top of what is there now
        return _page(request, selected, _base(selected, ""), typed, refused=str(conflict), status=409)
    except Refused as refused:
        return _page(request, selected, base, typed, refused=str(refused), status=422)
    name = event.event.event_type or event.event.event_id
    messages.success(request, f"Amended: {name} will be replayed as v{amendment.version}. The original is untouched.")
    return redirect(f"{reverse('key', args=[event.quarantine_id])}?event={event.pk}&view=difference")


def _base(selected: Selected, seen: str) -> Base:
    """The version that the form was opened with, else the newest one."""
    stored = selected.stored
    original = Base(1, selected.value, unpack(stored.headers) if stored else ())
    bases = [original] + [
        Base(one.version, None if one.value is None else bytes(one.value), unpack(one.headers))
        for one in reversed(selected.amendments)
    ]
    return next((base for base in bases if str(base.version) == seen), bases[-1])


def _parsed(request: HttpRequest, base: Base) -> Typed:
    upload = request.FILES.get("upload")
    try:
        return parse(request.POST, upload.read() if upload else None, value=base.value, headers=base.headers)
    except NotEditable as error:
        kept = start(base.value, base.headers)
        form, text = request.POST.get("form", "text"), request.POST.get("value", "")
        return replace(kept, form=form, text=text, wrong=str(error), value=None)


def _page(
    request: HttpRequest, selected: Selected, base: Base, typed: Typed, *, refused: str = "", status: int = 200
) -> HttpResponse:
    event = selected.event
    context = {
        **_beside(selected, base, typed),
        "state": event,
        "event": event.event,
        "flow": event.flow,
        "selected": selected,
        "base": base,
        "header_fields": [
            *header_fields(typed.headers),
            *(HeaderField(name="", form="text", text="") for _ in range(2)),
        ],
        "refused": refused,
        "reason": request.POST.get("reason", ""),
    }
    return render(request, "amend/amend.html", context, status=status)


def _beside(selected: Selected, base: Base, typed: Typed) -> dict[str, object]:
    flow, original = selected.event.flow, unpack(selected.stored.headers) if selected.stored else ()
    known = not typed.wrong
    return {
        "state": selected.event,
        "typed": typed,
        "has_schema": flow.schema is not None,
        "schema_name": (flow.schema or {}).get("title", "the flow's schema") if isinstance(flow.schema, dict) else "",
        "violations": violations(flow, typed.value) if known else [],
        "changes": difference.side_by_side(selected.value, typed.value) if known else [],
        "header_changes": _header_changes(original, typed.headers),
        "unchanged": known and typed.value == base.value and typed.headers == base.headers,
    }


def _header_changes(before: Headers, after: Headers) -> list[difference.Row]:
    if before == after:
        return []
    return difference.side_by_side(difference.header_lines(before), difference.header_lines(after))
