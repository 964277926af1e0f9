"""The event id: what makes two deliveries the same event (DESIGN section 5)."""

import hashlib

from parking.coordinates import Coordinates
from parking.record import Record

LONGEST = 1024


def event_id(record: Record) -> str:
    """The id of a source record: header `event-id`, else CloudEvents `<ce_source>#<ce_id>`, else its coordinates.

    A header counts if its first occurrence is UTF-8 and not empty. At most 1 KiB of UTF-8, else `sha256:<hex>`.
    """
    source, number = _text(record, "ce_source"), _text(record, "ce_id")
    cloud_event = f"{source}#{number}" if source and number else None
    return bounded(_text(record, "event-id") or cloud_event or str(record.coordinates))


def conflicting(event_id: str, at: Coordinates) -> str:
    """The id of another event that wears the id of an earlier one: `<id>#<topic>/<partition>/<offset>@<timestamp>`."""
    return bounded(f"{event_id}#{at}")


def bounded(event_id: str) -> str:
    """The id itself, or `sha256:<hex>` of its UTF-8 bytes where they are more than 1 KiB."""
    if len(event_id) <= LONGEST // 4:  # a character has at most four bytes
        return event_id
    data = event_id.encode("utf-8", "surrogatepass")
    return event_id if len(data) <= LONGEST else "sha256:" + hashlib.sha256(data).hexdigest()


def _text(record: Record, name: str) -> str | None:
    value = record.first(name)
    try:
        return value.decode("utf-8") if value else None
    except UnicodeDecodeError:
        return None
