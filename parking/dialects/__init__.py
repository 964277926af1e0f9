"""Dead letters in every dialect that we know, one module each. To add one: `docs/dialects.md`.

A dialect has `FRAMEWORK`, `reads(record)` (is the newest failure in it of this family?) and `read(record)`.
"""

from parking.dialects import native, spring
from parking.dialects.reading import UNATTRIBUTED, Reading, Unreadable, unattributed
from parking.event_id import event_id
from parking.record import Record

__all__ = ["DIALECTS", "UNATTRIBUTED", "Reading", "Unreadable", "identify"]

DIALECTS = (native, spring)
"""In the order in which they are asked; the first one counts."""


def identify(record: Record) -> Reading:
    """Read a record in whatever dialect it is, as `unattributed` where none knows it: nothing is guessed.

    Raises Unreadable where it says that it is of a dialect and cannot be read.
    """
    for dialect in DIALECTS:
        if dialect.reads(record):
            return dialect.read(record)
    return unattributed(record, event_id(record))
