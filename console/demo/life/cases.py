"""A key in trouble: what is parked of it, and what people do about it. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from parking.record import Headers
from parking.wire import Wire


class Event(NamedTuple):
    """One parked event: when, its id, its record on the parking topic, and what it was before."""

    at: datetime
    event_id: str
    wire: Wire
    poison: bool


class Remedy(NamedTuple):
    """What is decided about a poison event; `value` and `headers` are those of the edited copy."""

    action: str
    reason: str
    value: bytes | None = None
    headers: Headers = ()


@dataclass
class Case:
    """One key of one flow, with its events in order and a remedy for each poison one, by event id."""

    flow: str
    key: bytes
    events: list[Event] = field(default_factory=list)
    remedies: dict[str, Remedy] = field(default_factory=dict)

    @property
    def began(self) -> datetime:
        return self.events[0].at

    @property
    def last(self) -> datetime:
        return self.events[-1].at
