"""Tell the hooks: one delivery per hook and transition, written in the transaction of what it tells of, sent later."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from parking.models import Delivery, Hook, Incident


def opening(incident: Incident) -> bool:
    """Tell that an incident is open, unless a silence lasts or somebody was faster; whether it was told.

    Inside the caller's transaction. Where the team has only fallback hooks, these are told.
    """
    unannounced = Incident.objects.unannounced().filter(pk=incident.pk)
    if unannounced.update(announced_at=timezone.now()) == 0:
        return False
    hooks = Hook.objects.hearing(incident)
    write(incident, Delivery.Transition.OPENED, hooks.filter(fallback=False) or hooks)
    return True


def change(incident: Incident, transition: Delivery.Transition) -> None:
    """Tell an acknowledgement or a resolution to every hook that was told, or is still to be told, of the opening."""
    told = Hook.objects.filter(deliveries__incident=incident, deliveries__transition=Delivery.Transition.OPENED)
    write(incident, transition, told.order_by("id"))


def write(incident: Incident, transition: Delivery.Transition, hooks: Iterable[Hook]) -> None:
    """The rows; what a hook is being told already is left alone. Due by the database's clock, which is everybody's."""
    times = {
        "created_at": Now(),
        "due_at": Now(),
        "give_up_at": Now() + timedelta(seconds=settings.ALERT_BUDGET_SECONDS),
    }
    rows = [Delivery(incident=incident, hook=hook, transition=transition, **times) for hook in hooks]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def announce_due() -> int:
    """Tell of what opened under a silence that has ended; how many."""
    with transaction.atomic():
        waiting = Incident.objects.unannounced().select_for_update(of=("self",), skip_locked=True)
        return sum(opening(incident) for incident in waiting)
