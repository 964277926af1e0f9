"""Tell the team's fallback hooks: because another hook failed, or because a person wants it."""

from django.db import transaction

from parking import journal
from parking.actor import Actor
from parking.alarms import announce
from parking.errors import Refused
from parking.models import Delivery, Hook, Incident
from parking.reason import required


def escalate(*, incident_id: int, actor: Actor, reason: str) -> list[Hook]:
    """The fallback hooks that are told of the opening now.

    Raises Refused without a reason, if it is resolved, or where no fallback hook is left to be told.
    """
    reason = required(reason, "why the others have to know")
    with transaction.atomic():
        incident = Incident.objects.select_for_update(of=("self",)).select_related("flow").get(pk=incident_id)
        if incident.state == Incident.State.RESOLVED:
            raise Refused("It is resolved: there is nobody to tell.")
        told = to_fallback(incident)
        if not told:
            raise Refused("No enabled fallback hook of the team is left to be told: add one to the team.")
        detail = {"incident": incident.pk, "hooks": [hook.pk for hook in told]}
        journal.write(actor=actor, verb="escalate", flow=incident.flow, reason=reason, detail=detail)
    return told


def to_fallback(incident: Incident) -> list[Hook]:
    """Tell the opening to every fallback hook that does not know of it yet, unless it is over; which hooks.

    Inside the caller's transaction, with the incident's row locked: a resolution at this moment is told to them too.
    """
    if incident.state == Incident.State.RESOLVED:
        return []
    new = list(Hook.objects.hearing(incident).filter(fallback=True).exclude(deliveries__incident=incident))
    announce.write(incident, Delivery.Transition.OPENED, new)
    return new
