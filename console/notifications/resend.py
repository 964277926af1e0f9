"""Send a delivery again because a person wants it."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from parking import journal
from parking.actor import Actor
from parking.errors import Conflict
from parking.models import Delivery
from parking.reason import required


def resend(*, delivery_id: int, actor: Actor, reason: str) -> list[Delivery]:
    """The delivery, and what its hook was told of the same incident after it, due now, each under its old id.

    So an opening that is sent again is followed by its resolution, and a receiver that had it already drops the copy.
    Raises Refused without a reason, Conflict while one of them is being sent.
    """
    reason = required(reason, "why it should be sent again")
    with transaction.atomic():
        first = Delivery.objects.select_related("incident__flow", "hook__flow").get(pk=delivery_id)
        rows = Delivery.objects.filter(pk=first.pk)
        if first.incident_id:
            rows = Delivery.objects.filter(incident=first.incident_id, hook=first.hook_id, pk__gte=first.pk)
        again = list(rows.select_for_update().order_by("pk"))
        if any(one.state == Delivery.State.SENDING for one in again):
            raise Conflict("It is being sent at this moment: look again in a minute.", what="sending")
        give_up_at = Now() + timedelta(seconds=settings.ALERT_BUDGET_SECONDS)
        rows.update(state="pending", due_at=Now(), give_up_at=give_up_at, queued_at=None, delivered_at=None)
        flow = first.incident.flow if first.incident else first.hook.flow
        detail = {"deliveries": [one.pk for one in again], "hook": first.hook_id, "incident": first.incident_id}
        journal.write(actor=actor, verb="send again", flow=flow, reason=reason, detail=detail)
    return list(rows.order_by("pk"))
