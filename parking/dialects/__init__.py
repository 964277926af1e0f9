"""Dead letters in every dialect that we know, one module each. To add one: `docs/dialects.md`."""

from parking.dialects import hand_rolled, layout, native, topics
from parking.dialects.family import Found
from parking.dialects.layout import Layout
from parking.dialects.reading import UNATTRIBUTED, Reading, Unreadable, unattributed
from parking.dialects.table import FAMILIES
from parking.event_id import event_id
from parking.record import Record

__all__ = ["UNATTRIBUTED", "Reading", "Unreadable", "added", "find", "identify"]

_ASKED = tuple(family for family in FAMILIES if family.asks is not None)


def identify(record: Record) -> Reading:
    """Read a record in whatever dialect it is, as `unattributed` where none knows it: nothing is guessed.

    Raises Unreadable where it says that it is of a dialect and cannot be read.
    """
    seen = layout.of(record.headers, topics.in_front(record.topic))
    if seen.block is not None:
        return native.read(record, seen)
    found = _find(record, seen)
    return unattributed(record, event_id(record)) if found is None else found.family.read(found)


def find(record: Record) -> Found | None:
    """The family of the newest failure in a record: by its headers, else whoever knows it; None if nobody does."""
    return _find(record, layout.of(record.headers, topics.in_front(record.topic)))


def _find(record: Record, seen: Layout) -> Found | None:
    if seen.newest is not None:
        found = Found(record, seen.newest, seen)
        return hand_rolled.newer(found) if seen.behind else found
    family = next((family for family in _ASKED if family.asks is not None and family.asks(record)), None)
    return None if family is None else Found(record, family, seen)


def added(framework: str, name: str) -> bool:
    """Whether a failure that was read as `framework` may have added a header of that name."""
    if framework == native.FRAMEWORK:
        return name.startswith("siding-")
    return any(family.adds(name) for family in FAMILIES if family.framework == framework)
