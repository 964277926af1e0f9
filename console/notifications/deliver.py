"""Send one delivery: claim it, send it, write down what came of it. Notifier and watch both do it, never both at once.

The claim is a compare-and-swap with a lease that outlasts any sending. A process that dies leaves its lease behind; the
next one sends again, with the same id.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from console.notifications import mail, verdict, webhook
from console.notifications.verdict import Fate, Verdict
from parking import states
from parking.alarms.escalate import to_fallback
from parking.models import Delivery, Hook, Incident

log = logging.getLogger(__name__)

# Longer than any sending: a POST ends after 10 s, however slowly names are looked up; SMTP after some words of 8 s.
LEASE = {Hook.Kind.WEBHOOK: timedelta(seconds=60), Hook.Kind.EMAIL: timedelta(seconds=150)}
SEND = {Hook.Kind.WEBHOOK: webhook.send, Hook.Kind.EMAIL: mail.send}
KEPT_ANSWERS = 50
# A page that has not arrived after so many tries, or shall wait so long, goes to the team's fallback hook too.
PATIENCE_TRIES, PATIENCE_SECONDS = 3, 60.0


def deliver(delivery_id: int, *, by: str) -> bool:
    """Try to send it now, as `by` ("notifier", "watch"); False if it is not due or somebody else is at it."""
    delivery = claim(delivery_id)
    if delivery is None:
        return False
    settle(delivery, _send(delivery), by=by)
    return True


def claim(delivery_id: int) -> Delivery | None:
    """The delivery, ours alone for the length of a lease, or None."""
    kind = Delivery.objects.filter(pk=delivery_id).values_list("hook__kind", flat=True).first()
    if kind is None:
        return None
    row = Delivery.objects.due().filter(pk=delivery_id).order_by()
    swapped = row.update(state="sending", lease_until=Now() + LEASE[Hook.Kind(kind)], tries=F("tries") + 1)
    if not swapped:
        return None
    return Delivery.objects.select_related("hook__team", "incident__team", "incident__flow").get(pk=delivery_id)


def settle(delivery: Delivery, came: Verdict, *, by: str) -> bool:
    """Write what came of a claimed try; False if the lease was lost meanwhile and another try counts."""
    now = timezone.now()
    answer = {"at": now.isoformat(), "by": by, "status": came.status, "answer": came.text[:500]}
    after, changes = _after(delivery, came, now)
    with transaction.atomic():
        incident = Incident.objects.select_for_update().get(pk=delivery.incident_id) if delivery.incident_id else None
        mine = Delivery.objects.filter(pk=delivery.pk, tries=delivery.tries)
        answers = [*delivery.answers, answer][-KEPT_ANSWERS:]
        kept = states.move(
            mine, states.DELIVERY, before="sending", after=after, lease_until=None, answers=answers, **changes
        )
        if kept and incident is not None and _is_urgent(delivery, came, after):
            to_fallback(incident)
    log.log(
        logging.INFO if came.fate is Fate.DELIVERED else logging.WARNING,
        "delivery %s to hook %s, try %s: %s",
        delivery.pk, delivery.hook_id, delivery.tries, after,
    )  # fmt: skip
    return kept


def _send(delivery: Delivery) -> Verdict:
    try:
        return SEND[Hook.Kind(delivery.hook.kind)](delivery)
    except Exception as error:  # noqa: BLE001  (whatever it is, the page must be tried again, not lost)
        log.warning("delivery %s: %s", delivery.pk, type(error).__name__)
        return Verdict(Fate.AGAIN, f"it could not be sent ({type(error).__name__})")


def _after(delivery: Delivery, came: Verdict, now: datetime) -> tuple[str, dict[str, object]]:
    """The state after a try, and what else changes."""
    if came.fate is Fate.DELIVERED:
        return "delivered", {"delivered_at": now}
    if came.fate is Fate.FAILED:
        return "failed", {}
    wait = came.wait if came.wait is not None else verdict.backoff(delivery.tries)
    if now + timedelta(seconds=wait) > delivery.give_up_at:
        return "failed", {}
    return "pending", {"due_at": Now() + timedelta(seconds=wait), "queued_at": None}


def _is_urgent(delivery: Delivery, came: Verdict, after: str) -> bool:
    """Whether somebody else has to be told of an opening that does not arrive."""
    if delivery.transition != Delivery.Transition.OPENED or delivery.hook.fallback or after == "delivered":
        return False
    late = delivery.tries >= PATIENCE_TRIES or (came.wait or 0.0) > PATIENCE_SECONDS
    return after == "failed" or late
