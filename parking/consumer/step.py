"""What the gate says about a record: it is done, it waits, or a handler has to decide first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parking.attempt import Attempt
from parking.consumer.effect import Effect
from parking.consumer.event import Event
from parking.consumer.ledger.rows import Fate
from parking.wire import Wire


@dataclass(frozen=True, slots=True)
class Done:
    """The ledger has decided. What is due of `hold_key` is published, then `refusal`, then the offset may move.

    `known` is the event's fate where a source record came again; `applied` says that this very decision took effect,
    `parked` that it made the event poison, or failed its replay. `event` is the event where the gate itself decided
    that, by the name that it is parked under; no handler may have been asked.
    """

    hold_key: bytes | None = None
    refusal: Wire | None = None
    known: Fate | None = None
    applied: bool = False
    parked: bool = False
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A handler has to decide about `event`, outside of any lock. Then one of the two is called, as often as needed.

    Both look again, under the lock, and may find that the decision has been taken by somebody else meanwhile.
    """

    event: Event
    applied: "Callable[[Effect], Step]"
    failed: "Callable[[Sequence[Attempt], Mapping[str, Any] | None], Step]"


@dataclass(frozen=True, slots=True)
class Later:
    """The key is about to open: the record stays unfinished, in its place, and `again` is called after `seconds`."""

    seconds: float
    again: "Callable[[], Step]"


Step = Done | Work | Later
