"""The rows that a batch touches, in memory while it is folded. `write` stores what has changed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from parking.intake.rows import Answered, Failure, Ident, KeyIdent, Parked, Unplaced


@dataclass(slots=True)
class Key:
    """A HoldKey, and its quarantine that is not released, if there is one."""

    id: int
    ident: KeyIdent
    highest_floor: int
    released_position: int
    quarantine: "Stop | None" = None
    changed: bool = False


@dataclass(slots=True)
class Stop:
    """A Quarantine. `look_again`: which event is its head has to be asked."""

    id: int
    key: Key
    state: str
    opened_at: datetime
    last_at: datetime
    poison: int = 0
    held: int = 0
    settled: int = 0
    last_position: int = -1
    oldest_at: datetime | None = None
    released_at: datetime | None = None
    ordered_partition: int | None = None
    first_error: str = ""
    new: bool = False
    changed: bool = False
    look_again: bool = False
    renumber_from: int | None = None
    arrivals: list["Event"] = field(default_factory=list)

    @property
    def depth(self) -> int:
        return self.poison + self.held


@dataclass(slots=True)
class Event:
    """An EventState, with what is new about it."""

    id: int
    ident: Ident
    kind: str
    state: str
    stop: Stop | None = None
    position: int | None = None
    group: int | None = None
    attempt_count: int = 0
    fate_token: int | None = None
    fate_fingerprint: bytes | None = None
    settled_at: datetime | None = None
    known_attempts: set[tuple[int, int]] = field(default_factory=set)
    attempts: list[tuple[int, int, Failure]] = field(default_factory=list)
    """New ones: token, number, failure."""
    row: Parked | Unplaced | None = None
    """What it is new with; None for one that was stored before."""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """What the journal is to hold: `released`, or `returned` for an event that is parked again."""

    verb: str
    flow: int
    quarantine: int
    event: int | None = None
    reason: str = ""
    detail: dict[str, int | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alert:
    """What the owner has to be told, as `parking.alarms.open_incident` takes it."""

    kind: str
    flow: int
    key: str
    summary: str


class Ids:
    """Ids that the database gives out, in order."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._ids = iter(ids)

    def next(self) -> int:
        return next(self._ids)


@dataclass(slots=True)
class Touched:
    keys: dict[KeyIdent, Key]
    events: dict[Ident, Event]
    groups: dict[tuple[int, bytes], int]
    earlier: dict[Ident, list[Answered]]
    """Answers that arrived before their event, oldest first."""
    event_ids: Ids
    stop_ids: Ids
    stops: list[Stop]
    group_counts: dict[int, int] = field(default_factory=dict)
    joined: list[int] = field(default_factory=list)
    """An error group for each event that came to it."""
    seen: set[int] = field(default_factory=set)
    """Error groups as which an event failed, again perhaps."""
    records: list[tuple[int, int, int, bytes, int | None]] = field(default_factory=list)
    """Topic, partition, offset, content, and the event that it was about."""
    counts: dict[tuple[int, str], int] = field(default_factory=dict)
    """(flow, poison | held | other) → events stored for the first time."""
    notes: list[Note] = field(default_factory=list)
    alerts: set[Alert] = field(default_factory=set)

    def let_go(self) -> None:
        """Nothing refers in a circle any more, so that what a batch took is free at once."""
        for stop in self.stops:
            stop.key.quarantine = None
            stop.arrivals = []
