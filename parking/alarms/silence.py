"""Keep an alarm from ringing for a while. What opens meanwhile is shown, and told when the silence ends while it lasts;
what rang before is resolved aloud all the same."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from parking import journal, storable
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Incident, Silence
from parking.reason import required

LONGEST = timedelta(days=30)


def silence(*, incident_id: int, until: datetime, actor: Actor, reason: str) -> Silence:
    """No opening of this incident's alarm is told before `until` (in UTC); a silence that lasts is replaced.

    Raises Refused without a reason, or where `until` is past or more than 30 days away.
    """
    reason = required(reason, "why nobody needs to be told")
    now = timezone.now()
    if not now < until <= now + LONGEST:
        raise Refused("A silence ends in the future, at most 30 days from now.")
    with transaction.atomic():
        incident = Incident.objects.select_related("flow").get(pk=incident_id)
        row = {
            "until": until,
            "reason": reason,
            "actor_id": actor.id,
            "actor_name": storable.text(actor.name, 149),
            "at": now,
        }
        made, _ = Silence.objects.update_or_create(alarm=incident.alarm, defaults=row)
        _write(incident, "silence", actor, reason, until)
    return made


def end_silence(*, incident_id: int, actor: Actor, reason: str) -> bool:
    """The alarm of this incident rings again at once; whether it was silent."""
    reason = required(reason, "why it should be told again")
    with transaction.atomic():
        incident = Incident.objects.select_related("flow").get(pk=incident_id)
        now = timezone.now()
        if not Silence.objects.filter(alarm=incident.alarm, until__gt=now).update(until=now):
            return False
        _write(incident, "end silence", actor, reason, now)
    return True


def _write(incident: Incident, verb: str, actor: Actor, reason: str, until: datetime) -> None:
    detail = {"incident": incident.pk, "kind": incident.kind, "until": until.isoformat()}
    journal.write(actor=actor, verb=verb, flow=incident.flow, reason=reason, detail=detail)
