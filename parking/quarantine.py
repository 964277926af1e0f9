"""The moves of a quarantine that replays cause; intake alone releases (parking.intake.stops)."""

from parking import states
from parking.errors import Conflict
from parking.models import Quarantine


def begin_replay(*, quarantine_id: int) -> None:
    """`open → replaying`, inside the caller's transaction. Raises Conflict if it is not open."""
    rows = Quarantine.objects.filter(pk=quarantine_id)
    if not states.move(rows, states.QUARANTINE, before="open", after="replaying"):
        raise Conflict(f"The key is {rows.values_list('state', flat=True).get()}: only an open one can be replayed.")


def end_replay(*, quarantine_id: int) -> bool:
    """`replaying → open`, inside the caller's transaction; False if the consumer's release came first."""
    rows = Quarantine.objects.filter(pk=quarantine_id)
    return states.move(rows, states.QUARANTINE, before="replaying", after="open")
