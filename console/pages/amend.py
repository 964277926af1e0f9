"""Edit a copy of an event: value and headers, with the schema's errors and the difference beside the editor."""

import json
from dataclasses import dataclass, replace
from functools import cached_property

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from console import schemas
from console.access import Permission
from console.pages import found
from console.pages.amend_form import HeaderField, Typed, header_fields, parse, start
from console.pages.selected import Selected, select
from console.show import difference
from console.show.edit import NotEditable, decoded_field
from parking.decoding import JSON, Decoded
from parking.errors import Conflict, Refused
from parking.headers import unpack
from parking.models import Cluster, EventState, Flow
from parking.record import Headers
from replay.amend import against, violations
from replay.amend import amend as write_amendment


@dataclass(frozen=True)
class Base:
    """Where the edit starts: the newest version; `version` 1 is the original."""

    cluster: Cluster
    version: int
    value: bytes | None
    headers: Headers

    @cached_property
    def decoded(self) -> Decoded:
        return schemas.read(self.cluster, self.value, self.headers)


@require_http_methods(["GET", "HEAD", "POST"])
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    event = found.event(request, pk, Permission.AMEND)
    selected = select(request, event, what="amend")
    if selected.stored is None or event.quarantine_id is None or event.state != EventState.State.PARKED:
        return render(request, "amend/impossible.html", {"state": event, "selected": selected}, status=409)
    base = _base(selected, request.POST.get("seen", ""))
    if request.method != "POST":
        decoded = None if request.GET.get("as") == "bytes" else base.decoded
        return _page(request, selected, base, start(base.value, base.headers, decoded))
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
    event = selected.event
    wrong = typed.wrong or _refused_by_registry(event.flow, typed)
    if wrong:
        return _page(request, selected, base, typed, refused=wrong, status=422)
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


def _refused_by_registry(flow: Flow, typed: Typed) -> str:
    """What the JSON Schema that the value names has against it; `replay.amend` knows only the flow's own."""
    wrong = _by_registry(typed, schemas.read(flow.cluster, typed.value, typed.headers))
    return f"The value does not match its schema at {wrong[0]['path'] or '/'}: {wrong[0]['hint']}." if wrong else ""


def _base(selected: Selected, seen: str) -> Base:
    """The version that the form was opened with, else the newest one."""
    stored, cluster = selected.stored, selected.event.flow.cluster
    original = Base(cluster, 1, selected.value, unpack(stored.headers) if stored else ())
    bases = [original] + [
        Base(cluster, one.version, None if one.value is None else bytes(one.value), unpack(one.headers))
        for one in reversed(selected.amendments)
    ]
    return next((base for base in bases if str(base.version) == seen), bases[-1])


def _parsed(request: HttpRequest, base: Base) -> Typed:
    upload = request.FILES.get("upload")
    content = upload.read() if upload else None
    decoded = base.decoded if request.POST.get("form") == "decoded" else None
    try:
        return parse(request.POST, content, value=base.value, headers=base.headers, decoded=decoded)
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
        "decoded": base.decoded,
        "decodable": decoded_field(base.value, base.decoded) is not None,
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
    after = schemas.read(flow.cluster, typed.value, typed.headers) if known else None
    meant = difference.Meant(selected.decoded, after)
    return {
        "state": selected.event,
        "typed": typed,
        "schema_name": _schema_name(flow, after),
        "violations": [*violations(flow, typed.value), *_by_registry(typed, after)] if known else [],
        "changes": difference.side_by_side(selected.value, typed.value, meant) if known else [],
        "header_changes": _header_changes(original, typed.headers),
        "unchanged": known and typed.value == base.value and typed.headers == base.headers,
    }


def _schema_name(flow: Flow, shown: Decoded | None) -> str:
    """What the value is checked against; empty for nothing."""
    if shown is not None and shown.schema is not None and shown.schema.text:
        return f"{shown.decoder}, {shown.frame} of the registry"
    named = flow.schema.get("title") if isinstance(flow.schema, dict) else ""
    return str(named or "the flow's schema") if flow.schema is not None else ""


def _by_registry(typed: Typed, shown: Decoded | None) -> list[dict[str, str]]:
    """What a JSON Schema of the registry has against the value that names it; nothing without one."""
    schema = shown.schema if shown else None
    if typed.value is None or schema is None or schema.kind != JSON or not schema.text:
        return []
    try:
        own, *others = (json.loads(text) for text in (schema.text, *(text for _, text in schema.references)))
    except (ValueError, RecursionError):
        return []
    return against(own, typed.value, dict(zip((name for name, _ in schema.references), others, strict=True)))


def _header_changes(before: Headers, after: Headers) -> list[difference.Row]:
    if before == after:
        return []
    return difference.side_by_side(difference.header_lines(before), difference.header_lines(after))
