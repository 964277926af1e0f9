"""How much a consumer does at a time, and how much it keeps."""

from dataclasses import dataclass, fields

KEPT = 10
"""So many times `buffer` records, finished ones too, are kept from a partition's first unfinished one on."""
MOST = 500
"""Records that are taken over from the Kafka client at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Records that are worked on at a time, per partition and `overall`: never two of one key.

    `buffer` records, or `buffer_bytes`, of a partition may be read and unfinished before reading pauses there; so may
    ten times `buffer` records from its first unfinished one on, however many of them are finished. A partition that is
    taken away may finish what runs within `drain` seconds, a stop within `stop` seconds; what takes longer is left to
    whoever comes next.
    """

    per_partition: int = 16
    overall: int = 32
    buffer: int = 1_000
    buffer_bytes: int = 8 * 1024 * 1024
    drain: float = 10.0
    stop: float = 30.0

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"{limit.name}: expected more than 0, arrived {getattr(self, limit.name)}")

    @property
    def kept(self) -> int:
        """From a partition's first unfinished record on, reading pauses once so many were read."""
        return self.buffer * KEPT

    @property
    def suspects(self) -> int:
        """How many records of a partition may come to a handler, after whoever had it ended, up to the last one that
        had come to one before.

        Those before it were unfinished: `buffer`, and what came with the last of them. Those after it, whose keys may
        be quicker now, are kept behind it. All others have a fate, and come to no handler.
        """
        return self.buffer + MOST + self.kept + MOST


SERIAL = Limits(per_partition=1, overall=1)
"""One record at a time."""
