"""End an incident: by its rule, by whoever opened it, or by a person; told to every hook that got the opening."""

from django.db import transaction
from django.utils import timezone

from parking import journal, states, storable
from parking.actor import Actor
from parking.alarms import announce
from parking.alarms.opening import alarm
from parking.errors import Conflict, Refused
from parking.models import Delivery, Flow, Incident
from parking.reason import required


def resolve_incident(*, incident_id: int, actor: Actor, reason: str) -> Incident:
    """A person says that it is over, and why.

    Raises Refused without a reason and for what a rule watches (it resolves by itself), Conflict if it is resolved.
    """
    reason = required(reason, "what was done about it")
    with transaction.atomic():
        incident = Incident.objects.select_for_update(of=("self",)).select_related("flow").get(pk=incident_id)
        if incident.resolves_itself:
            raise Refused("Its rule resolves it as soon as the value is down. To hear nothing meanwhile, silence it.")
        if not end(incident, resolution=reason, by=actor.name):
            raise Conflict(
                f"{incident.resolved_by_name or 'Siding'} resolved it before: {incident.resolution}.",
                who=incident.resolved_by_name,
                at=incident.resolved_at,
                what=incident.resolution,
            )
        journal.write(
            actor=actor,
            verb="resolve",
            flow=incident.flow,
            reason=reason,
            detail={"incident": incident.pk, "kind": incident.kind},
        )
    return incident


def close_incident(*, kind: str, flow: Flow, key: str, reason: str) -> bool:
    """What `open_incident` told of is over by itself; whether there was something to close. Joins the transaction."""
    with transaction.atomic():
        open_ones = Incident.objects.unresolved().select_for_update(of=("self",))
        incident = open_ones.filter(alarm=alarm(kind, flow, key)).first()
        return incident is not None and end(incident, resolution=storable.text(reason, 1000))


def end(incident: Incident, *, resolution: str, by: str = "") -> bool:
    """Move an incident whose row the caller has locked to `resolved` and tell so; False if it is resolved already."""
    now = timezone.now()
    if not states.allowed(states.INCIDENT, incident.state, "resolved"):
        return False
    row = Incident.objects.filter(pk=incident.pk)
    changes = {"resolved_at": now, "resolution": resolution, "resolved_by_name": storable.text(by, 149)}
    if not states.move(row, states.INCIDENT, before=incident.state, after="resolved", **changes):
        return False
    incident.refresh_from_db()
    announce.change(incident, Delivery.Transition.RESOLVED)
    return True
