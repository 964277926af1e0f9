"""The rows of the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from parking.coordinates import Coordinates
from parking.fields import unpack
from parking.wire import Wire

HELD, APPLIED, SKIPPED = "held", "applied", "skipped"


@dataclass(frozen=True, slots=True)
class Hold:
    """What the consumer knows of one key. `floor` is the smallest token that may still act.

    Until `buffer_until` (milliseconds of the database's clock) a source owner leaves the key's events unfinished.
    """

    hold_key: bytes
    quarantined: bool = False
    blocked_by: str | None = None
    floor: int = 0
    released: int = 0
    released_position: int = 0
    next_position: int = 0
    buffer_until: int | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one event.

    `state` is held, applied or skipped; `kind` (of what was ever held) poison or held. Digests of 32 bytes: `content`
    of key and value, `source_fingerprint` of the source record, `fingerprint` of what was applied or skipped. `token`
    is that of the replay that settled it or failed last, 0 = live. `attempts` is the JSON of the tries that were
    announced last, `attempt_number` the number of the last one. `result` is the JSON of what a duplicate is given back,
    `evidence` that of what the decision was based on. `base_digest` is the SHA-256 of the id that another event wore
    before, where this one was renamed because of it.
    """

    event_id: str
    state: str
    hold_key: bytes
    source: Coordinates
    content: bytes
    source_fingerprint: bytes
    at: int
    kind: str | None = None
    position: int | None = None
    fingerprint: bytes | None = None
    token: int = 0
    attempt_number: int = 0
    attempts: bytes | None = None
    result: bytes | None = None
    evidence: bytes | None = None
    base_digest: bytes | None = None

    @property
    def settled(self) -> bool:
        return self.state != HELD


@dataclass(frozen=True, slots=True)
class Note:
    """What the purge has noted: at the time `at` the partitions, by their names, ended at the offsets `ends`; of what
    was decided before `edge` no record can come any more. Times are milliseconds since 1970, 0: none yet."""

    edge: int = 0
    at: int = 0
    ends: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Due:
    """One record of the outbox that has to be published."""

    sequence: int
    hold_key: bytes
    record: bytes

    @property
    def wire(self) -> Wire:
        """The record as it goes out. Raises ValueError where it cannot be read: it stops nothing but its key."""
        key, value, *rest = unpack(self.record)
        headers = tuple(((name or b"").decode(), field) for name, field in zip(rest[::2], rest[1::2], strict=True))
        return Wire(key, value, headers)
