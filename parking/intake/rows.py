"""What a record becomes: a parked event, an answer, or something that has no place in a quarantine. Plain values.

Nothing changes them once they are made. Those that each record makes are not frozen: it would take twice as long.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from parking.attempt import Attempt
from parking.error_group import Group
from parking.intake.flows import FlowFacts


class Place(NamedTuple):
    """Where the record stands: id of the TopicIncarnation, partition, offset."""

    topic: int
    partition: int
    offset: int


class Ident(NamedTuple):
    """One event of one flow, by the SHA-256 of its id."""

    flow: int
    digest: bytes


class KeyIdent(NamedTuple):
    """One hold key of one flow, by its SHA-256."""

    flow: int
    digest: bytes


@dataclass(slots=True)
class Columns:
    """The immutable row and the payload, storable as they are."""

    dialect: str
    event_id: str
    event_id_bytes: bytes | None
    event_type: str
    parking_topic: str
    parked_at: datetime
    source_topic: str
    source_partition: int | None
    source_offset: int | None
    source_at: datetime | None
    consumer_group: str
    fingerprint: bytes
    error_type: str
    error_message: str
    blocked_by: str
    unreadable_reason: str
    not_original: str
    key: bytes | None
    value: bytes | None
    headers: bytes
    raw_headers: bytes
    wrapped: bytes | None = None
    """Key and value as they arrived (`parking.fields.pack`), where `key` and `value` were unwrapped from them."""


@dataclass(slots=True)
class Failure:
    """One try that failed. `number` is None where the record does not count: it is the next one then."""

    number: int | None
    attempt: Attempt
    evidence: dict[str, Any] | None = None


@dataclass(slots=True)
class Parked:
    """A poison or held event. `position` is None where the consumer keeps no ledger."""

    place: Place
    content: bytes
    flow: FlowFacts
    event: Ident
    hold_key: bytes
    key: KeyIdent
    kind: str
    position: int | None
    failures: tuple[Failure, ...]
    group: Group | None
    columns: Columns = field(repr=False)
    token: int = 0
    """Of the replay whose try failed; 0 for a failure of the live flow."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An outcome. `key` is None for an answer to a record that could not be read."""

    place: Place
    content: bytes
    flow: FlowFacts
    outcome: str
    hold_key: bytes = b""
    key: KeyIdent | None = None
    event: Ident | None = None
    position: int | None = None
    token: int | None = None
    replay_id: str = ""
    fate_token: int | None = None
    fingerprint: bytes | None = None
    floor: int | None = None
    still_held: tuple[Ident, ...] = ()
    failures: tuple[Failure, ...] = ()
    group: Group | None = None
    attempts_json: tuple[dict[str, Any], ...] = ()
    evidence: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Kept and shown, in no quarantine: of no dialect or flow (`unattributed`), not readable or storable (`broken`)."""

    place: Place
    content: bytes
    flow: FlowFacts
    event: Ident
    kind: str
    columns: Columns = field(repr=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """It waits on a retry topic for its next try: not parked. Texts storable as they are.

    Where it is `foreign` (of a consumer group that is no flow's that waits there) nobody is shown it: it is only read.
    """

    place: Place
    content: bytes
    flow: FlowFacts
    event: Ident
    event_id: str
    dialect: str
    topic: str
    arrived_at: datetime
    due_at: datetime | None
    attempts: int | None
    error_type: str
    error_message: str
    foreign: bool = False


Row = Parked | Answered | Unplaced | Waiting
