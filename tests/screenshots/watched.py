"""What the pictures of overview, incidents, errors, flows and status show beside the stopped keys. All synthetic."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from parking import alarms, beat
from parking.alarms import acknowledge, resolving
from parking.alarms import rules as alarm_rules
from parking.assign import assign
from parking.models import AlarmRule, Beat, Delivery, ErrorGroup, EventState, Flow, Incident, Rollup
from parking.models.hook import DeliveryQuerySet
from parking.search.index import catch_up
from tests import alarm_story
from tests.console import story


def watched(lot: story.Lot, bills: story.Lot, oncall: User, reviewer: User) -> tuple[Incident, Incident, ErrorGroup]:
    """A firing incident that was paged, one that is over, and an error that comes again and again."""
    for process in ("intake", "index", "watch", "worker"):
        beat.beat(process, "reads 2 partitions" if process == "intake" else "")
    Beat.objects.filter(process="worker").update(at=timezone.now() - timedelta(minutes=4))
    for flow in Flow.objects.all():
        _history(flow)
    for flow in (lot.flow, bills.flow):
        alarms.ensure_rules(flow=flow, actor=alarm_story.OWNER)
    _change_age_rule(lot.flow)
    pager = alarm_story.hook(lot.flow.team, "https://pager.example/in/s3cret", name="pager")
    alarm_story.hook(lot.flow.team, "lead@payments.example", name="team lead", fallback=True)
    alarm_story.hook(bills.flow.team, "billing@console.example", name="billing mail")
    alarms.evaluate()
    firing = Incident.objects.get(flow=lot.flow, kind="age")
    _answered(Delivery.objects.filter(incident__flow=lot.flow, hook=pager))
    acknowledge.acknowledge(incident_id=firing.pk, actor=story.actor(oncall), reason="looking at the model")
    over = alarms.open_incident(
        kind="gap", flow=lot.flow, key=f"{lot.flow.parking_topic}/0", summary="disputes: 3 records were gone unread"
    )
    resolving.resolve_incident(incident_id=over.pk, actor=story.actor(oncall), reason="read again from the source")
    for name in (b"acc-20417", b"acc-30998"):
        assign(quarantine_id=lot.quarantine(name).pk, to=story.actor(oncall), actor=story.actor(oncall), seen="")
    catch_up()
    return firing, over, ErrorGroup.objects.get(flow=bills.flow)


def _history(flow: Flow) -> None:
    """A day of minutes, busy at the end where the flow has trouble."""
    now = timezone.now().replace(second=0, microsecond=0)
    last = EventState.objects.filter(flow=flow).count()
    rows = [
        Rollup(flow=flow, minute=now - timedelta(hours=hour, minutes=7), poison=(hour * 7 + last) % 5, held=hour % 3)
        for hour in range(3, 24)
    ]
    Rollup.objects.bulk_create(rows, ignore_conflicts=True)


def _change_age_rule(flow: Flow) -> None:
    rule = AlarmRule.objects.get(flow=flow, measure="age")
    alarm_rules.change_rule(
        rule_id=rule.pk, threshold=300, for_seconds=0, resolve_at=60, resolve_for_seconds=60, severity="critical",
        enabled=True, actor=alarm_story.OWNER, reason="disputes have to be answered within the hour",
    )  # fmt: skip


def _answered(deliveries: DeliveryQuerySet) -> None:
    now = timezone.now()
    tries = [
        {"at": now.isoformat(), "by": "notifier", "status": 503, "answer": "HTTP 503 Service Unavailable"},
        {"at": now.isoformat(), "by": "notifier", "status": 204, "answer": "HTTP 204 No Content"},
    ]
    deliveries.filter(incident__kind="age").update(state="delivered", tries=2, answers=tries, delivered_at=now)
    deliveries.exclude(incident__kind="age").update(state="failed", tries=9, answers=tries[:1])
