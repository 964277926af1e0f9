"""An alarm from its breach to the page, to somebody who is on it, to its resolution."""

from collections.abc import Callable

from django.utils import timezone

from console.demo.check.pager import Pager
from console.demo.check.report import Deviation
from console.demo.check.stage import Key, Stage
from console.notifications import signing
from console.notifications.hooks import add_hook
from parking.alarms import readings
from parking.alarms.acknowledge import acknowledge
from parking.alarms.rules import change_rule
from parking.errors import Refused
from parking.models import AlarmRule, Delivery, Hook, Incident

HELD = 11
ROOM = 6
"""So many events of other keys may be parked meanwhile without keeping the alarm from being resolved."""


def ring(stage: Stage, pager: Pager, account: str, decide: Callable[[Key, str, str, str], None]) -> None:
    """`decide(key, event id, action, reason)` is what on-call does. Raises Deviation."""
    report = stage.report
    report.chapter("Rung: a breach pages the owner once, and its end is told, too")
    key, rule = Key(stage, account), AlarmRule.objects.get(flow=stage.flow, measure=AlarmRule.Measure.DEPTH)
    _set(stage, rule, threshold=100, resolve_at=80, enabled=False)  # what a check before this one left is over
    _hook(stage, pager)
    calm = _depth(rule)
    _set(stage, rule, threshold=calm + ROOM + 1, resolve_at=calm + ROOM, enabled=True)
    poison = key.event("EvidenceAdded", evidence="fax")
    for _ in range(HELD):
        key.event("EvidenceAdded")
    report.wait("the breach is paged, signed", pager.types, lambda types: types[:1] == ["incident.opened"])
    incident = Incident.objects.get(rule=rule, state=Incident.State.FIRING)
    acknowledge(incident_id=incident.pk, actor=stage.people["oncall"], reason="looking at it")
    report.wait("that somebody is on it is told", pager.types, lambda types: types[1:2] == ["incident.acknowledged"])
    decide(key, poison.event_id, "skip", "a fax is no evidence")
    key.approve(key.request("oncall", "a fax is no evidence"), "reviewer")
    key.wait_state("released")
    told = ["incident.opened", "incident.acknowledged", "incident.resolved"]
    report.wait_same("its resolution is told, and nothing is told twice", pager.types, told)
    _pages(stage, pager, incident, account)
    _set(stage, rule, threshold=100, resolve_at=80, enabled=True)


def _set(stage: Stage, rule: AlarmRule, *, threshold: int, resolve_at: int, enabled: bool) -> None:
    change_rule(
        rule_id=rule.pk, threshold=threshold, for_seconds=0, resolve_at=resolve_at, resolve_for_seconds=0,
        severity="critical", enabled=enabled, actor=stage.people["owner"], reason="to see that it rings",
    )  # fmt: skip


def _hook(stage: Stage, pager: Pager) -> Hook:
    def add(name: str, address: str) -> Hook:
        owner = stage.people["owner"]
        return add_hook(
            team=stage.flow.team, name=name, kind="webhook", address=address, actor=owner, reason="on-call's pager"
        )

    try:
        add("somewhere inside", "http://127.0.0.1:1/pages")
    except Refused as refusal:
        stage.report.so(f"an address inside that is not on the list is refused: “{refusal}”")
    else:
        raise Deviation("a hook may call any address of this machine")
    hook = add(f"pager at {pager.address}", pager.address)
    pager.secret = signing.secret(hook)
    return hook


def _depth(rule: AlarmRule) -> int:
    return readings.read(rule, timezone.now(), readings.last_beat()).value


def _pages(stage: Stage, pager: Pager, incident: Incident, account: str) -> None:
    report = stage.report
    keys = {page["data"]["dedup_key"] for page in pager.pages}
    report.same("all three are about one incident", expected={incident.dedup_key}, actual=keys)
    leaks = [page["type"] for page in pager.pages if account in page["body"] or "fax" in page["body"]]
    report.same("nothing of a key or a payload leaves the console", expected=[], actual=leaks)
    report.same("three different messages, none with a wrong signature", expected=(3, 0),
                actual=(len({page["id"] for page in pager.pages}), pager.refused))  # fmt: skip
    states = incident.deliveries.filter(hook__address=pager.address).values_list("state", flat=True)
    report.wait_same(
        "the console knows that they were delivered", lambda: set(states.all()), {Delivery.State.DELIVERED}
    )
