"""Dead letters in every dialect that we know, one module each. To add one: `docs/dialects.md`.

A dialect is a module with what `Dialect` says: `reads` asks whether the newest failure in a record is of its family.
"""

from typing import Protocol

from parking.dialects import connect, native, spring, spring_cloud_stream, spring_retryable_topic, unnamed
from parking.dialects.reading import UNATTRIBUTED, Reading, Unreadable, unattributed
from parking.event_id import event_id
from parking.record import Record

__all__ = ["DIALECTS", "UNATTRIBUTED", "Reading", "Unreadable", "identify"]


class Dialect(Protocol):
    """A module of this package."""

    FRAMEWORK: str

    def reads(self, record: Record) -> bool: ...
    def failure_header(self, name: str) -> bool: ...
    def read(self, record: Record) -> Reading: ...


DIALECTS: tuple[Dialect, ...] = (native, spring, spring_retryable_topic, spring_cloud_stream, connect, unnamed)
"""In the order in which they are asked; the first one counts."""


def identify(record: Record) -> Reading:
    """Read a record in whatever dialect it is, as `unattributed` where none knows it: nothing is guessed.

    Raises Unreadable where it says that it is of a dialect and cannot be read.
    """
    for dialect in DIALECTS:
        if dialect.reads(record):
            return dialect.read(record)
    return unattributed(record, event_id(record))
