"""The event as the handler of a service sees it."""

import json
from dataclasses import dataclass
from typing import Any

from parking.attempt import ValidationError
from parking.consumer.errors import Poison
from parking.coordinates import Coordinates
from parking.record import Headers


@dataclass(frozen=True, slots=True)
class Event:
    """One event, live or replayed: the bytes as they were sent (or amended), and where it came from.

    `event_id` is the key for idempotent calls to others. `attempt` counts the tries over the event's life, from 1.
    `token` is 0 for a live event, else the fencing token of the replay `replay_id`.
    """

    event_id: str
    hold_key: bytes
    key: bytes | None
    value: bytes | None
    headers: Headers
    source: Coordinates
    attempt: int = 1
    token: int = 0
    replay_id: str | None = None

    def header(self, name: str) -> bytes | None:
        """The value of the last header of that name; None where there is none or it is null."""
        return next((value for header, value in reversed(self.headers) if header == name), None)

    def json(self) -> Any:
        """The value as JSON. Raises Poison where it is none: trying again would not help."""
        try:
            return json.loads(self.value or b"")
        except (ValueError, RecursionError) as error:
            wrong = ValidationError(path="", expected="JSON", actual=str(error), hint="send the event as JSON")
            raise Poison("the value is not JSON", error_type="not-json", validation_errors=[wrong]) from error
