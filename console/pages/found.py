"""What an address names, if the viewer may see it and do this with it; else 404, or 403 where seeing is allowed."""

from typing import TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest

from console import access
from console.access import Permission
from parking.actor import Actor
from parking.models import EventState, Quarantine
from replay.models import Replay

Row = TypeVar("Row", bound=Model)
LARGEST_ID = 2**63 - 1


def quarantine(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Quarantine:
    rows = Quarantine.objects.select_related("flow__team", "flow__cluster", "hold_key")
    return _allowed(request, rows, pk, permission)


def event(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> EventState:
    rows = EventState.objects.select_related(
        "flow__team", "flow__cluster", "event", "quarantine__hold_key", "error_group", "decision__amendment"
    )
    return _allowed(request, rows, pk, permission)


def replay(request: HttpRequest, pk: int, permission: Permission = Permission.SEE) -> Replay:
    rows = Replay.objects.select_related("flow__team", "flow__cluster", "quarantine__hold_key")
    return _allowed(request, rows, pk, permission)


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
