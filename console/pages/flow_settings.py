"""What an owner changes of a flow: alarm rules, hooks, retention. Each change has a reason and is journalled."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from console.access import Permission
from console.notifications import hooks
from console.pages import flow, found
from parking.alarms.rules import change_rule
from parking.errors import Refused
from parking.models import Flow
from parking.retention.change import change_retention


@require_POST
def rule(request: HttpRequest, pk: int) -> HttpResponse:
    row = found.rule(request, pk, Permission.SETTINGS)

    def change() -> str:
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

    return _change(request, f"rule-{pk}", change)


@require_POST
def retention(request: HttpRequest, name: str) -> HttpResponse:
    row = found.flow(request, name, Permission.SETTINGS)

    def change() -> str:
        kept = change_retention(
            flow_id=row.pk,
            payload_days=_number(request, "payload_days"),
            metadata_days=_number(request, "metadata_days"),
            actor=found.actor(request.user),
            reason=_text(request, "reason"),
        )
        return f"Payloads are kept for {kept.payload_days} days after settling, the rest for {kept.metadata_days}."

    return _change(request, "retention", change, row)


@require_POST
def add_hook(request: HttpRequest, name: str) -> HttpResponse:
    row = found.flow(request, name, Permission.SETTINGS)

    def change() -> str:
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

    return _change(request, "hook-new", change, row)


@require_POST
def hook(request: HttpRequest, pk: int) -> HttpResponse:
    row = found.hook(request, pk, Permission.SETTINGS)

    def change() -> str:
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

    return _change(request, f"hook-{pk}", change)


@require_POST
def hook_secret(request: HttpRequest, pk: int) -> HttpResponse:
    row = found.hook(request, pk, Permission.SETTINGS)

    def change() -> str:
        hooks.renew_secret(hook_id=row.pk, actor=found.actor(request.user), reason=_text(request, "reason"))
        return f"{row} signs with a new secret, and with the old one too until the next renewal."

    return _change(request, f"hook-{pk}", change)


@require_POST
def hook_test(request: HttpRequest, pk: int) -> HttpResponse:
    row = found.hook(request, pk, Permission.SETTINGS)

    def change() -> str:
        hooks.send_test(hook_id=row.pk, actor=found.actor(request.user))
        return f"A test goes to {row}. Its answer appears beside it in a moment."

    return _change(request, f"hook-{pk}", change)


def _change(request: HttpRequest, form: str, change: Callable[[], str], row: Flow | None = None) -> HttpResponse:
    """Make the change and go back to the flow's page, or show there why it was not made."""
    shown = row or found.flow(request, request.POST.get("flow", ""))
    try:
        messages.success(request, change())
    except Refused as refused:
        return flow.show(request, shown, refused=str(refused), form=form, status=422)
    return redirect("flow", name=shown.name)


def _text(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "")


def _number(request: HttpRequest, name: str) -> int:
    text = _text(request, name).strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Refused(f"{name.replace('_', ' ')}: a whole number was expected; “{text[:40]}” arrived.")
    return int(text)
