"""What is going on in a flow, as chips: what fires, what moves, what storms, and that it is quiet."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Func, TextField, Value
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from console.show.alarms import short
from console.show.texts import number, shortened, simple_name, span
from console.show.unseen import visible
from parking.models import Flow, Incident, Quarantine

STORM = 10  # so many keys that one error stopped …
MOSTLY = 0.75  # … and they are most of what is stopped: it is the cause that has to be looked at, not the keys
MOST = 3


@dataclass(frozen=True, slots=True)
class Chip:
    """`meaning` colours it and `mark` is its sign; `address` is where it leads."""

    meaning: str
    mark: str
    text: str
    address: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Moving:
    """Living replays of a flow in one state: how many, and how many of their steps are done; `first` is one of them."""

    state: str
    replays: int
    done: int
    total: int
    first: int


@dataclass(frozen=True, slots=True)
class Storm:
    """One error type that stopped most keys of a flow."""

    error_type: str
    keys: int


def storms(flow_ids: Collection[int]) -> dict[int, Storm]:
    """By flow, the error type that stopped the most keys, from ten on. Its keys are still stopped."""
    error_type = Func(F("first_error"), Value(": "), Value(1), function="split_part", output_field=TextField())
    stopped = Quarantine.objects.visible(flow_ids).unreleased().annotate(error_type=error_type).order_by()
    many = stopped.values_list("flow", "error_type").annotate(keys=Count("pk")).filter(keys__gte=STORM)
    return {flow: Storm(kind, keys) for flow, kind, keys in many.order_by("keys")}


def chips(
    flow: Flow, keys: int, moving: Sequence[Moving], incidents: Sequence[Incident], storm: Storm | None
) -> list[Chip]:
    """The gravest first. `flow` was read with `last_parked`."""
    found = [_of_incident(incident) for incident in incidents[:MOST]]
    if len(incidents) > MOST:
        found.append(Chip("poison", "poison", f"{len(incidents) - MOST} more", _of(flow, "incidents")))
    if storm and storm.keys >= keys * MOSTLY:
        whole = visible(storm.error_type, one_line=True)
        text = f"storm: {shortened(simple_name(whole), 40)}, {number(storm.keys)} keys"
        title = f"most keys of this flow stopped at one error: {whole}"
        found.append(Chip("held", "warning", text, _of(flow, "errors"), title))
    found += [_of_replays(one) for one in sorted(moving, key=lambda one: one.state != "requested")]
    if not flow.enabled:
        found.append(Chip("quiet", "none", "switched off", title="intake does not read its parking topic"))
    return found or ([] if keys else [_quiet(flow)])


def _of_incident(incident: Incident) -> Chip:
    address, text = reverse("incident", args=[incident.pk]), short(incident.kind, incident.detail)
    if incident.state == Incident.State.ACKNOWLEDGED:
        by = f"acknowledged by {incident.acknowledged_by_name}"
        return Chip("held", "held", f"{text}, acknowledged", address, by)
    return Chip("poison", "poison", text, address, incident.summary)


def _of_replays(moving: Moving) -> Chip:
    address = reverse("replay", args=[moving.first]) if moving.replays == 1 else reverse("replays")
    if moving.state == "requested":
        waits = "waits" if moving.replays == 1 else "wait"
        return Chip("moving", "moving", f"{number(moving.replays)} {waits} for approval", address)
    far = f"{number(moving.done)} of {number(moving.total)}"
    what = "replaying" if moving.state in ("approved", "running") else moving.state
    if moving.state == "paused":
        return Chip("held", "held", f"paused, {far}", address)
    return Chip("moving", "moving", f"{what} {far}" if moving.replays == 1 else f"{moving.replays} {what}", address)


def _quiet(flow: Flow) -> Chip:
    last: datetime | None = flow.last_parked  # type: ignore[attr-defined]
    if last is None:
        return Chip("quiet", "none", "nothing parked yet")
    return Chip(
        "settled", "settled", f"quiet for {span(timezone.now() - last)}", title="since the last event was parked"
    )


def _of(flow: Flow, page: str) -> str:
    return f"{reverse(page)}?{urlencode({'flow': flow.name})}"
