"""Looking at a payload leaves a trace: once per person, event and hour."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.models import EventState, JournalEntry

VERB = "look"
ONCE_IN = timedelta(hours=1)


def look(*, event: EventState, actor: Actor, what: str) -> None:
    """Journal that the actor was shown this payload; `what` says where: page, raw, amendment, plan."""
    recent = JournalEntry.objects.filter(
        verb=VERB, event_id=event.pk, actor_id=actor.id, at__gt=timezone.now() - ONCE_IN
    )
    if event.quarantine_id is not None:
        recent = recent.filter(quarantine_id=event.quarantine_id)
    if recent.exists():
        return
    with transaction.atomic():
        journal.write(
            actor=actor,
            verb=VERB,
            flow=event.flow,
            quarantine_id=event.quarantine_id,
            event_id=event.pk,
            detail={"what": what},
        )
