"""What happened with an incident, in the order in which it happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from parking.models import Delivery, Incident, JournalEntry

ACTS = {
    "silence": "kept the alarm silent",
    "end silence": "ended the silence",
    "escalate": "escalated to the fallback hooks",
    "send again": "sent pages again",
}
DELIVERED = {
    "delivered": ("settled", "delivered"),
    "failed": ("poison", "not delivered, given up"),
    "pending": ("held", "waits to be sent"),
    "sending": ("moving", "is being sent"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """`who` did `text`; `reason` is what they typed, or why it is over; a page has its `delivery`."""

    at: datetime
    mark: str
    text: str
    who: str = ""
    reason: str = ""
    delivery: Delivery | None = None
    order: int = 0


def timeline(incident: Incident) -> list[Moment]:
    """Earliest first. Three queries."""
    deliveries = incident.deliveries.select_related("hook").order_by("id")
    moments = [*_of_incident(incident), *_acts(incident), *(_page(delivery) for delivery in deliveries)]
    return sorted(moments, key=lambda moment: (moment.at, moment.order))


def _of_incident(incident: Incident) -> Iterator[Moment]:
    if incident.breached_at != incident.opened_at:
        yield Moment(incident.breached_at, "warning", "the threshold was crossed")
    told = "" if incident.announced_at else ", silent: nobody was told"
    yield Moment(incident.opened_at, "poison", f"it began to fire{told}", order=1)
    if incident.announced_at and (incident.announced_at - incident.opened_at).total_seconds() > 1:
        yield Moment(incident.announced_at, "poison", "the silence ended and it was told")
    if incident.acknowledged_at:
        who, reason = incident.acknowledged_by_name, incident.acknowledged_reason
        yield Moment(incident.acknowledged_at, "held", "acknowledged it", who, reason, order=2)
    if incident.resolved_at:
        who = incident.resolved_by_name
        text = "resolved it" if who else "it is over"
        yield Moment(incident.resolved_at, "settled", text, who, incident.resolution, order=2)


def _acts(incident: Incident) -> Iterator[Moment]:
    entries = JournalEntry.objects.filter(
        flow=incident.flow_id, verb__in=ACTS, at__gte=incident.opened_at, detail__incident=incident.pk
    )
    for entry in entries.order_by("id"):
        yield Moment(entry.at, "none", ACTS[entry.verb], entry.actor_name, entry.reason, order=2)


def _page(delivery: Delivery) -> Moment:
    mark, word = DELIVERED[delivery.state]
    return Moment(delivery.created_at, mark, word, delivery=delivery, order=3)
