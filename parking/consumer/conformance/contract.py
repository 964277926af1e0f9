"""What the handler of an implementation under test does, so that a suite can tell what happened.

The value of an event is a JSON object. The handler
- fails for good, at the first try, where the value is no JSON object or has `"fail": true`;
- waits first for as many milliseconds as `"wait_ms"` says, if it is there;
- else has one effect: in the same transaction as the event's fate it stores what becomes a record of the effects topic.

A record of the effects topic has the key and value that were applied, the header `event-id` with the event's id and the
header `effect` with a text that is another one for each effect that was stored. Effects are sent in the order in which
they were stored, after the commit, and may be sent again (with the same `effect`).
"""

import json
from typing import NamedTuple

from parking.record import Record

EFFECT, EVENT_ID = "effect", "event-id"


class Applied(NamedTuple):
    """One effect; `number` is the value of its header `effect`."""

    number: str
    event_id: str
    key: bytes | None
    value: bytes | None


def value(*, fail: bool = False, wait_ms: int = 0, **more: object) -> bytes:
    """A value for the handler; `more` makes it different from others."""
    members: dict[str, object] = {**more}
    if fail:
        members["fail"] = True
    if wait_ms:
        members["wait_ms"] = wait_ms
    return json.dumps(members).encode()


GOOD = value(mended=True)
"""What an event is amended to so that it succeeds."""


def applied(record: Record) -> Applied:
    """The effect that a record of the effects topic tells of. Raises ValueError where it has not what it must have."""
    number, event_id = record.first(EFFECT), record.first(EVENT_ID)
    if not number or not event_id:
        raise ValueError(f"effects topic, offset {record.offset}: the headers effect and event-id are required")
    return Applied(number.decode(), event_id.decode(), record.key, record.value)
