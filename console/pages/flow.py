"""One flow: what it is, its alarms, hooks, retention, and who may do what; an owner changes it here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console.access import ROLES
from console.models import Grant
from console.notifications import signing
from console.pages import found, reach
from console.pages.key import permissions
from console.pages.previews import Preview, measured, of_rule, of_typed
from parking.alarms import readings
from parking.alarms.past import Past, past
from parking.models import AlarmRule, Delivery, Flow, Hook, Severity
from parking.retention.preview import preview


@dataclass(frozen=True, slots=True)
class Rule:
    """An alarm rule and what it measures now, in words."""

    rule: AlarmRule
    now: str
    threshold: str
    resolve_at: str
    over: bool
    preview: Preview | None

    @property
    def form(self) -> str:
        return f"rule-{self.rule.pk}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A hook with its last delivery; `address` and `secret` are empty for those who may not change it."""

    hook: Hook
    last: Delivery | None
    address: str
    secret: str

    @property
    def form(self) -> str:
        return f"hook-{self.hook.pk}"


@require_safe
def flow(request: HttpRequest, name: str) -> HttpResponse:
    return show(request, found.flow(request, name))


def show(
    request: HttpRequest,
    row: Flow,
    *,
    refused: str = "",
    form: str = "",
    status: int = 200,
    tried: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
) -> HttpResponse:
    """The page; `refused` says why the last change was not made, and `form` names the form that stays open.

    `tried` are values that are only typed, by rule id: of these the preview is.
    """
    may = permissions(request, row.pk)
    context = {
        "flow": row,
        "may": may,
        "rules": rules(row, tried),
        "severities": Severity.choices,
        "hooks": hooks(row, settings=may["settings"]),
        "preview": preview(row),
        "reach": reach.of_flows([row])[row.pk],
        "schema": json.dumps(row.schema, indent=2, ensure_ascii=False) if row.schema is not None else "",
        "grants": Grant.objects.filter(flow=row).select_related("user").order_by("role", "user__username"),
        "roles": {str(role): ", ".join(sorted(held)) for role, held in ROLES.items()},
        "refused": refused,
        "form": form,
        "typed": (request.POST or request.GET) if refused or tried else {},
    }
    return render(request, "flow/flow.html", context, status=status)


def rules(row: Flow, tried: Mapping[int, Mapping[str, str]]) -> list[Rule]:
    """What may ring for the flow: its own rules and its team's."""
    now, beat = timezone.now(), readings.last_beat()
    found_rules = list(AlarmRule.objects.of_flow(row).select_related("flow", "team"))
    then = past(row, now) if any(rule.flow_id for rule in found_rules) else None
    return [
        _rule(rule, readings.read(rule, now, beat).value, _preview(rule, then, tried.get(rule.pk)))
        for rule in found_rules
    ]


def _preview(rule: AlarmRule, then: Past | None, typed: Mapping[str, str] | None) -> Preview | None:
    """Signs of life are not kept: what a team's rule would have done is not known."""
    if then is None or rule.flow_id is None:
        return None
    return of_rule(rule, then) if typed is None else of_typed(rule, then, typed)


def _rule(rule: AlarmRule, value: int, preview: Preview | None) -> Rule:
    now, threshold, resolve_at = (measured(rule.measure, one) for one in (value, rule.threshold, rule.resolve_at))
    return Rule(rule, now, threshold, resolve_at, value >= rule.threshold, preview)


def hooks(row: Flow, *, settings: bool) -> list[Shown]:
    """Those that hear of this flow, enabled ones first."""
    ours = list(Hook.objects.filter(Q(flow=row) | Q(flow__isnull=True, team=row.team_id)).order_by("-enabled", "name"))
    last = _last_deliveries(row, ours)
    return [_shown(hook, last.get(hook.pk), settings=settings) for hook in ours]


def _shown(hook: Hook, last: Delivery | None, *, settings: bool) -> Shown:
    if not settings:
        return Shown(hook, last, "", "")
    secret = signing.secret(hook) if hook.kind == Hook.Kind.WEBHOOK else ""
    return Shown(hook, last, hook.address, secret)


def _last_deliveries(row: Flow, ours: list[Hook]) -> Mapping[int, Delivery]:
    """The latest of each hook that tells of this flow, of the team, or is a test."""
    about = Q(incident__isnull=True) | Q(incident__flow=row) | Q(incident__flow__isnull=True)
    rows = Delivery.objects.filter(about, hook__in=ours).order_by("hook_id", "-id").distinct("hook_id")
    return {delivery.hook_id: delivery for delivery in rows}
