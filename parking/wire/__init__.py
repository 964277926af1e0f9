"""What travels between consumer and console: announcements, outcomes and commands, byte for byte (DESIGN section 5).

`parking.wire.announcement`, `.outcome` and `.command` each have the dataclass, `encode` and `decode`; `decode_parking`
reads either of the first two.
"""

from parking.record import Record
from parking.wire import announcement, command, names, outcome
from parking.wire.announcement import Announcement
from parking.wire.block import Block, Wire, split
from parking.wire.command import Command
from parking.wire.outcome import Outcome, StillHeld
from parking.wire.signature import verify

__all__ = [
    "Announcement",
    "Command",
    "Outcome",
    "StillHeld",
    "Wire",
    "announcement",
    "command",
    "decode_parking",
    "is_siding",
    "names",
    "outcome",
    "split",
    "verify",
]


def is_siding(record: Record) -> bool:
    """Whether the record says that it is ours: it has a `siding-version`."""
    return record.has(names.VERSION)


def decode_parking(record: Record, begin: int | None = None) -> Announcement | Outcome:
    """Read a record of a parking topic; `begin` is the place of its block, where that is known. Raises Malformed."""
    originals, headers = split(record.headers, begin)
    block = Block(headers)
    if block.word(names.KIND, _KINDS) == "outcome":
        return outcome.decode(record)
    return announcement.of_block(record, originals, block)


_KINDS = (*names.KINDS, "outcome")
