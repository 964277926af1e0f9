"""Keep payloads and metadata of a flow for other lengths of time."""

from django.db import transaction

from parking import journal
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Flow
from parking.reason import required

LONGEST = 36_500


def change_retention(*, flow_id: int, payload_days: int, metadata_days: int, actor: Actor, reason: str) -> Flow:
    """The flow with the days after settling until its payloads, and the rest, may be purged; from watch's next turn on.

    Raises Refused without a reason, or where the days make no sense. What waits is never purged, whatever the days.
    """
    reason = required(reason, "why it should be kept for another time")
    _check(payload_days, metadata_days)
    with transaction.atomic():
        flow = Flow.objects.select_for_update(of=("self",)).get(pk=flow_id)
        after = {"payload_days": payload_days, "metadata_days": metadata_days}
        changed = {name: [getattr(flow, name), days] for name, days in after.items() if getattr(flow, name) != days}
        if not changed:
            raise Refused("These are the days that it has: nothing would change.")
        Flow.objects.filter(pk=flow_id).update(**after)
        flow.refresh_from_db()
        journal.write(actor=actor, verb="change retention", flow=flow, reason=reason, detail={"changed": changed})
    return flow


def _check(payload_days: int, metadata_days: int) -> None:
    for name, days in (("payloads", payload_days), ("metadata", metadata_days)):
        if not 1 <= days <= LONGEST:
            raise Refused(f"Days for {name}: a number from 1 to {LONGEST} was expected; {days} arrived.")
    if metadata_days < payload_days:
        raise Refused("Metadata has to be kept at least as long as payloads: they say what the payloads were.")
