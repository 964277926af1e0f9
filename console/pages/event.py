"""Everything about one parked event, whatever it is; and its exact bytes to take away."""

from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from console.access import Permission
from console.looks import look
from console.pages import found
from console.pages.key import permissions
from console.pages.selected import Selected, select
from console.show import copies, payload, reading_facts
from parking import fields
from parking.headers import unpack
from parking.models import EventPayload, EventState
from parking.record import Record

TABS = ("decoded", "json", "text", "hex")
SMALL = 1_000_000


@require_safe
def event(request: HttpRequest, pk: int) -> HttpResponse:
    state = found.event(request, pk)
    selected = select(request, state)
    tab = request.GET.get("tab", "")
    context = {
        "selected": selected,
        "state": state,
        "event": state.event,
        "flow": state.flow,
        "tab": tab if tab in TABS else "decoded",
        "tabs": TABS,
        "line": json_line(selected) if selected.stored and selected.size <= SMALL else "",
        "kcat": kcat(state),
        "curl": copies.curl(request.build_absolute_uri(reverse("event_raw", args=[pk]))),
        "records": state.records.select_related("topic").order_by("pk"),
        "came": came(selected),
        "facts": reading_facts.facts(as_it_arrived(state, selected.stored)) if selected.stored else [],
        "raw_headers": unpack(selected.stored.raw_headers) if selected.stored else (),
        "may": permissions(request, state.flow_id),
        "open_traces": True,
    }
    return render(request, "event/event.html", context)


@never_cache
@require_safe
def raw(request: HttpRequest, pk: int) -> HttpResponse:
    """The exact value as a download; `version` takes an amendment's, `part` the `key` or what `came`."""
    state = found.event(request, pk, Permission.PAYLOADS)
    value = _bytes_of(state, version=request.GET.get("version", ""), part=request.GET.get("part", ""))
    look(event=state, actor=found.actor(request.user), what="raw")
    response = HttpResponse(value, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="event-{pk}.bin"'
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _bytes_of(state: EventState, *, version: str, part: str) -> bytes:
    if version.isdecimal() and len(version) < 10 and version != "1":
        return bytes(get_object_or_404(state.amendments, version=int(version)).value or b"")
    stored = EventPayload.objects.filter(pk=state.pk).first()
    if stored is None:
        raise Http404
    if part == "came" and stored.wrapped is not None:
        return fields.unpack(bytes(stored.wrapped))[1] or b""
    return bytes((stored.key if part == "key" else stored.value) or b"")


def came(selected: Selected) -> payload.Shown | None:
    """The value of the record as it arrived, where the event was unwrapped from it; else None."""
    if selected.stored is None or selected.stored.wrapped is None:
        return None
    return payload.show(fields.unpack(bytes(selected.stored.wrapped))[1])


def as_it_arrived(state: EventState, stored: EventPayload) -> Record:
    """The record of the parking topic, of which the event was made."""
    event, key, value = state.event, stored.key, stored.value
    if stored.wrapped is not None:
        key, value = fields.unpack(bytes(stored.wrapped))
    return Record(
        topic=event.parking_topic,
        partition=event.parking_partition,
        offset=event.parking_offset,
        timestamp_ms=round(event.parked_at.timestamp() * 1000),
        key=None if key is None else bytes(key),
        value=None if value is None else bytes(value),
        headers=unpack(stored.raw_headers),
    )


def json_line(selected: Selected) -> str:
    """The record as `manage.py inspect` reads it; unknown numbers are −1."""
    stored, (topic, partition, offset, at) = selected.stored, place(selected.event)
    assert stored is not None
    return copies.json_line(
        topic=topic,
        partition=-1 if partition is None else partition,
        offset=-1 if offset is None else offset,
        timestamp_ms=-1 if at is None else round(at.timestamp() * 1000),
        key=None if stored.key is None else bytes(stored.key),
        value=selected.value,
        headers=unpack(stored.headers),
    )


def kcat(state: EventState) -> str:
    topic, partition, offset, _ = place(state)
    return copies.kcat(state.flow.cluster.bootstrap_servers, topic, partition, offset)


def place(state: EventState) -> tuple[str, int | None, int | None, datetime | None]:
    """Where the record can be found: at its source, or where it is parked if that is not known."""
    event = state.event
    if event.source_topic:
        return event.source_topic, event.source_partition, event.source_offset, event.source_at
    return event.parking_topic, event.parking_partition, event.parking_offset, event.parked_at
