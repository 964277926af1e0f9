"""What is left of an event after retention: pages of old replays name it all the same."""

from parking.models import EventState, ParkedEvent

GONE = "(removed by retention)"


def kept(event: EventState) -> EventState:
    """The same event; where its immutable row was dropped with its day, an unsaved one stands in that says so.

    It was read with `select_related("event")`, so this asks the database nothing.
    """
    if not hasattr(event, "event"):
        event.event = ParkedEvent(event_id=GONE, fingerprint=b"", stored_at=event.stored_at)
    return event
