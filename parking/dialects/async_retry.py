"""kafkajs-async-retry, Node (dlq formats, §5): one header with JSON `{"ttl": ms, "top": topic, "att": tries}`.

The hop to the dead letters does not refresh it, so there one more try was made. The topics are `<group>-retry-<n>` and
`<group>-dlq`. A handler that gives up at once leaves no header: see `unnamed`.
"""

import re

from parking.dialects import causes, envelope, hand_rolled, json_members, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading

_HEADER = "asyncRetry"
_RETRY = re.compile(r"(.+)-retry-\d+s?", re.DOTALL)
_DEAD = re.compile(r"(.+)-dlq", re.DOTALL)


def read(found: Found) -> Reading:
    record = found.record
    told = envelope.members(found.last(_HEADER)) or {}
    waits, dead = _RETRY.fullmatch(record.topic), _DEAD.fullmatch(record.topic)
    named, tries = waits or dead, json_members.number(told.get("att"))
    return found.reading(
        _position(found),
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        consumer_group=named[1] if named else None,
        due_at_ms=times.epoch(json_members.number(told.get("ttl"))) if waits else None,
        attempts=tries if tries is None or waits else tries + 1,
        derived=("consumer_group",) if named else (),
        why=causes.why(*hand_rolled.why(found)),
    )


def _position(found: Found) -> Position | None:
    topic = json_members.text((envelope.members(found.last(_HEADER)) or {}).get("top"))
    return Position(topic, None, None) if topic else None


FAMILY = Family("kafkajs-async-retry", read, headers=(_HEADER,), oldest=_position)
