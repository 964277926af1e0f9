"""What an address names, if the viewer may see it and do this with it; else 404, or 403 where seeing is allowed."""

from typing import TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest

from console import access
from console.access import Permission
from console.pages.kept import kept
from parking import shared_topics
from parking.actor import Actor
from parking.models import AlarmRule, Delivery, ErrorGroup, EventState, Flow, Hook, Incident, Quarantine
from replay.models import Replay

Row = TypeVar("Row", bound=Model)
Owned = TypeVar("Owned", bound=AlarmRule | Hook | Incident)
LARGEST_ID = 2**63 - 1


def quarantine(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Quarantine:
    rows = Quarantine.objects.select_related("flow__team", "flow__cluster", "hold_key")
    return _allowed(request, rows, pk, permission)


def event(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> EventState:
    rows = EventState.objects.select_related(
        "flow__team", "flow__cluster", "event", "quarantine__hold_key", "error_group", "decision__amendment"
    )
    state = _allowed(request, rows, pk, permission)
    if state.quarantine_id is None and shared_topics.hidden(state.event, _closed(request)):
        raise Http404
    return kept(state)


def replay(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Replay:
    rows = Replay.objects.select_related("flow__team", "flow__cluster", "quarantine__hold_key")
    return _allowed(request, rows, pk, permission)


def error_group(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> ErrorGroup:
    return _allowed(request, ErrorGroup.objects.select_related("flow__team", "triage"), pk, permission)


def actor(user: AbstractBaseUser | AnonymousUser) -> Actor:
    """The person as an actor of the journal."""
    name = getattr(user, "get_full_name", str)() or user.get_username()
    return Actor(f"user:{user.pk}", name)


def _allowed(request: HttpRequest, rows: QuerySet[Row], pk: int, permission: Permission) -> Row:
    row = rows.filter(pk=pk).first() if pk <= LARGEST_ID else None
    if row is None:
        raise Http404
    access.of(request.user).require(row.flow_id, permission)  # type: ignore[attr-defined]
    return row


def incident(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Incident:
    rows = Incident.objects.select_related("flow", "team", "rule")
    return _of_team(request, _one(rows, pk), permission)


def rule(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> AlarmRule:
    return _of_team(request, _one(AlarmRule.objects.select_related("flow", "team"), pk), permission)


def hook(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Hook:
    return _of_team(request, _one(Hook.objects.select_related("flow", "team"), pk), permission)


def delivery(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Delivery:
    """What it tells of decides, not where it goes: a hook of the team hears of flows that the viewer may not see."""
    row = _one(Delivery.objects.select_related("incident__flow", "hook__flow", "hook__team"), pk)
    _of_team(request, row.incident or row.hook, permission)
    return row


def flow(request: HttpRequest, name: str, permission: Permission = Permission.SEE) -> Flow:
    row = Flow.objects.select_related("team", "cluster").filter(name=name.replace("\0", "")).first()
    if row is None:
        raise Http404
    access.of(request.user).require(row.pk, permission)
    return row


def _closed(request: HttpRequest) -> dict[int, list[str]]:
    return shared_topics.closed(access.of(request.user).flow_ids(Permission.PAYLOADS))


def _one(rows: QuerySet[Row], pk: int) -> Row:
    row = rows.filter(pk=pk).first() if pk <= LARGEST_ID else None
    if row is None:
        raise Http404
    return row


def _of_team(request: HttpRequest, row: Owned, permission: Permission) -> Owned:
    """What belongs to no flow belongs to all flows of its team: whoever may do it with one of them may do it."""
    viewer, flows = access.of(request.user), [row.flow_id] if row.flow_id else _flows_of(row.team_id)
    allowed = [flow for flow in flows if flow is not None and viewer.may(flow, permission)]
    seen = [flow for flow in flows if flow is not None and viewer.may(flow, Permission.SEE)]
    if not seen:
        raise Http404
    viewer.require(allowed[0] if allowed else seen[0], permission)
    return row


def _flows_of(team_id: int) -> list[int]:
    return list(Flow.objects.filter(team=team_id).values_list("pk", flat=True))
