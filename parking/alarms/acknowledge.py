"""Somebody is on it."""

from django.db import transaction
from django.utils import timezone

from parking import journal, states, storable
from parking.actor import Actor
from parking.alarms import announce
from parking.errors import Conflict
from parking.models import Delivery, Incident
from parking.moment import said
from parking.reason import optional


def acknowledge(*, incident_id: int, actor: Actor, reason: str = "") -> Incident:
    """The incident, acknowledged; every hook that was told of the opening hears by whom.

    Raises Conflict if somebody acknowledged it before or it is resolved.
    """
    reason = optional(reason)
    now = timezone.now()
    with transaction.atomic():
        incident = Incident.objects.select_for_update(of=("self",)).select_related("flow").get(pk=incident_id)
        if not states.allowed(states.INCIDENT, incident.state, "acknowledged"):
            raise _somebody_was_faster(incident)
        states.move(
            Incident.objects.filter(pk=incident.pk),
            states.INCIDENT,
            before=incident.state,
            after="acknowledged",
            acknowledged_at=now,
            acknowledged_by_id=actor.id,
            acknowledged_by_name=storable.text(actor.name, 149),
            acknowledged_reason=reason,
        )
        incident.refresh_from_db()
        announce.change(incident, Delivery.Transition.ACKNOWLEDGED)
        journal.write(
            actor=actor,
            verb="acknowledge",
            flow=incident.flow,
            reason=reason,
            detail={"incident": incident.pk, "kind": incident.kind},
        )
    return incident


def _somebody_was_faster(incident: Incident) -> Conflict:
    if incident.state == Incident.State.RESOLVED:
        return Conflict(
            f"It is resolved since {said(incident.resolved_at)}: {incident.resolution}.",
            who=incident.resolved_by_name,
            at=incident.resolved_at,
            what="resolved",
        )
    return Conflict(
        f"{incident.acknowledged_by_name} acknowledged it at {said(incident.acknowledged_at)}.",
        who=incident.acknowledged_by_name,
        at=incident.acknowledged_at,
        what="acknowledged",
    )
