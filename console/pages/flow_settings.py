"""What an owner changes of a flow: alarm rules, hooks, retention. Each change has a reason and is journalled."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.access import Permission
from console.notifications import hooks
from console.pages import flow, found
from console.pages.typed import whole_number
from parking.alarms.rules import change_rule
from parking.errors import Refused
from parking.models import AlarmRule, Flow, Hook
from parking.retention.change import change_retention

Row = TypeVar("Row", bound=Model)
View = Callable[..., HttpResponse]


def changes(find: Callable[[HttpRequest, Any, Permission], Row], form: str) -> Callable[..., View]:
    """A post that changes the row that `find` finds by what the address names, and says in one sentence what it did.

    It leads back to the flow's page. Where the change is refused, that page says why and keeps `form` open.
    """

    def decorate(change: Callable[[HttpRequest, Row], str]) -> View:
        @require_POST
        @wraps(change)
        def view(request: HttpRequest, **address: str | int) -> HttpResponse:
            (named,) = address.values()
            row = find(request, named, Permission.SETTINGS)
            shown = row if isinstance(row, Flow) else found.flow(request, request.POST.get("flow", ""))
            try:
                messages.success(request, change(request, row))
            except Refused as refused:
                return flow.show(request, shown, refused=str(refused), form=form.format(named), status=422)
            return redirect("flow", name=shown.name)

        return view

    return decorate


@changes(found.rule, "rule-{}")
def rule(request: HttpRequest, row: AlarmRule) -> str:
    change_rule(
        rule_id=row.pk,
        threshold=_number(request, "threshold"),
        for_seconds=_number(request, "for_seconds"),
        resolve_at=_number(request, "resolve_at"),
        resolve_for_seconds=_number(request, "resolve_for_seconds"),
        severity=request.POST.get("severity", ""),
        enabled="enabled" in request.POST,
        actor=found.actor(request.user),
        reason=_text(request, "reason"),
    )
    return f"The alarm for the {row.measure} was changed."


@changes(found.flow, "retention")
def retention(request: HttpRequest, row: Flow) -> str:
    kept = change_retention(
        flow_id=row.pk,
        payload_days=_number(request, "payload_days"),
        metadata_days=_number(request, "metadata_days"),
        actor=found.actor(request.user),
        reason=_text(request, "reason"),
    )
    return f"Payloads are kept for {kept.payload_days} days after settling, the rest for {kept.metadata_days}."


@changes(found.flow, "hook-new")
def add_hook(request: HttpRequest, row: Flow) -> str:
    hook = hooks.add_hook(
        team=row.team,
        flow=row if request.POST.get("hears") != "team" else None,
        name=_text(request, "name"),
        kind=_text(request, "kind"),
        address=_text(request, "address"),
        fallback="fallback" in request.POST,
        actor=found.actor(request.user),
        reason=_text(request, "reason"),
    )
    return f"{hook} was added. Send it a test before it is needed."


@changes(found.hook, "hook-{}")
def hook(request: HttpRequest, row: Hook) -> str:
    changed = hooks.change_hook(
        hook_id=row.pk,
        name=_text(request, "name"),
        address=_text(request, "address"),
        fallback="fallback" in request.POST,
        enabled="enabled" in request.POST,
        actor=found.actor(request.user),
        reason=_text(request, "reason"),
    )
    return f"{changed} was changed."


@changes(found.hook, "hook-{}")
def hook_secret(request: HttpRequest, row: Hook) -> str:
    hooks.renew_secret(hook_id=row.pk, actor=found.actor(request.user), reason=_text(request, "reason"))
    return f"{row} signs with a new secret, and with the old one too until the next renewal."


@changes(found.hook, "hook-{}")
def hook_test(request: HttpRequest, row: Hook) -> str:
    hooks.send_test(hook_id=row.pk, actor=found.actor(request.user))
    return f"A test goes to {row}. Its answer appears beside it in a moment."


def _text(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "")


def _number(request: HttpRequest, name: str) -> int:
    return whole_number(name, request.POST.get(name, ""))
