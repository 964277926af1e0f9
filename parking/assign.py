"""Who is on a stopped key."""

from django.db import transaction

from parking import journal, storable
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import Quarantine


def assign(*, quarantine_id: int, to: Actor | None, actor: Actor, seen: str, reason: str = "") -> Quarantine:
    """The key, assigned to `to`, or to nobody. `seen` is the id of whom the page showed, empty for nobody.

    Raises Conflict if somebody else took it meanwhile, Refused if the key is back on the line.
    """
    new, name = (to.id, storable.text(to.name, 149)) if to else ("", "")
    with transaction.atomic():
        key = Quarantine.objects.select_for_update(of=("self",)).select_related("flow").get(pk=quarantine_id)
        if key.state == Quarantine.State.RELEASED:
            raise Refused("The key is back on the line: there is nothing to be on.")
        if key.assignee_id == new:
            return key
        if key.assignee_id != seen:
            raise Conflict(f"It is assigned to {key.assignee_name or 'nobody'} by now.", who=key.assignee_name)
        key.assignee_id, key.assignee_name = new, name
        key.save(update_fields=["assignee_id", "assignee_name"])
        detail = {"to": name}
        journal.write(
            actor=actor, verb="assign", flow=key.flow, quarantine_id=key.pk, reason=reason.strip(), detail=detail
        )
    return key
