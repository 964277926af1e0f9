"""One bounded turn of retention, for `watch`: small transactions, one flow after the other, never long."""

import time

from django.utils import timezone

from parking.actor import Actor, system
from parking.models import Flow
from parking.retention import drop, scrub, sweep

SECONDS = 1.0


def purge_due(*, actor: Actor | None = None, seconds: float = SECONDS) -> int:
    """Scrub, drop and sweep what is due, as far as `seconds` go; how many events that concerned.

    Each step is its own transaction with its journal entry: what is done is done, the rest waits for the next turn.
    """
    actor = actor or system("watch")
    until = time.monotonic() + seconds
    done, flows = 0, list(Flow.objects.order_by("pk"))
    while flows and time.monotonic() < until:
        flow = flows.pop(0)
        scrubbed = scrub.scrub(flow=flow, actor=actor)
        done += scrubbed
        if scrubbed == scrub.CHUNK:
            flows.append(flow)
    return done + _days(actor, until)


def _days(actor: Actor, until: float) -> int:
    done = 0
    while time.monotonic() < until:
        now = timezone.now()
        day = drop.look(now)
        if day is None:
            break
        if day.due_at is not None and day.due_at <= now and drop.drop(day=day.day, actor=actor):
            done += day.events
    while time.monotonic() < until and (swept := sweep.sweep()):
        done += swept
    return done
