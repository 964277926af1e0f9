"""The event id: what makes two deliveries the same event (DESIGN section 5)."""

import hashlib
from collections.abc import Callable

from parking.coordinates import Coordinates
from parking.record import Record

LONGEST = 1024
NAMES = ("event-id", "ce_source", "ce_id")
"""The headers that say which event it is."""


def event_id(record: Record) -> str:
    """The id of a source record: header `event-id`, else CloudEvents `<ce_source>#<ce_id>`, else its coordinates.

    A header counts if its first occurrence is UTF-8 and not empty. At most 1 KiB of UTF-8, else `sha256:<hex>`.
    """
    return bounded(named(record.first) or str(record.coordinates))


def named(first: Callable[[str], bytes | None]) -> str | None:
    """The id that the headers say, however long; `first` gives the value of the first header of a name."""
    told = _text(first("event-id"))
    if told:
        return told
    source, number = _text(first("ce_source")), _text(first("ce_id"))
    return f"{source}#{number}" if source and number else None


def conflicting(event_id: str, at: Coordinates) -> str:
    """The id of another event that wears the id of an earlier one: `<id>#<topic>/<partition>/<offset>@<timestamp>`."""
    return bounded(f"{event_id}#{at}")


def worn_before(named: str, record: Record) -> str | None:
    """The id that the source record wore before `conflicting` made `named` of it; None where it always had that id.

    The record may lack its headers, where its bytes are lost: then `named` itself has to tell, unless it is a digest.
    """
    own, end = event_id(record), f"#{record.coordinates}"
    if named == own:
        return None
    if named == conflicting(own, record.coordinates):
        return own
    return named.removesuffix(end) if named.endswith(end) else None


def bounded(event_id: str) -> str:
    """The id itself, or `sha256:<hex>` of its UTF-8 bytes where they are more than 1 KiB."""
    if len(event_id) <= LONGEST // 4:  # a character has at most four bytes
        return event_id
    data = event_id.encode("utf-8", "surrogatepass")
    return event_id if len(data) <= LONGEST else "sha256:" + hashlib.sha256(data).hexdigest()


def _text(value: bytes | None) -> str | None:
    try:
        return value.decode("utf-8") if value else None
    except UnicodeDecodeError:
        return None
