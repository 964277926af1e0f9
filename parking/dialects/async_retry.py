"""kafkajs-async-retry, Node (dlq formats, §5): one header with JSON `{"ttl": ms, "top": topic, "att": tries}`.

The hop to the dead letters does not refresh it, so there one more try was made. The topics are `<group>-retry-<n>` and
`<group>-dlq`. A handler that gives up at once leaves no header: see `unnamed`.
"""

import re

from parking.dialects import causes, dead_letter, envelope, hand_rolled, json_members
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.record import Record

FRAMEWORK = "kafkajs-async-retry"

_HEADER = "asyncRetry"
_RETRY = re.compile(r"(.+)-retry-\d+s?")
_DEAD = re.compile(r"(.+)-dlq")


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: kept, its tries would be used up already."""
    return name == _HEADER


def read(record: Record) -> Reading:
    told = envelope.members(record.last(_HEADER)) or {}
    waits, dead = _RETRY.fullmatch(record.topic), _DEAD.fullmatch(record.topic)
    named, tries = waits or dead, json_members.number(told.get("att"))
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        Position(json_members.text(told.get("top")) or "", None, None),
        causes.fields(*hand_rolled.why(record.headers)),
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        consumer_group=named[1] if named else None,
        attempts=tries if tries is None or waits else tries + 1,
        derived=("consumer_group",) if named else (),
    )
