"""What the name of a topic says (dlq formats, §7): weak evidence, used only where a record itself says nothing."""

import re
from functools import lru_cache

from parking.record import INT64

_DEAD = re.compile(
    r"(?i)(?:^|[-_.])(?:dl[qtc]|dead[-_.]?letters?|dead[-_]messages?|poison\w*|failed[-_]messages)(?:[-_.]|$)"
    r"|^error(?:\.[^.]|$|-responses$)|^messenger_failed$"
)
_RETRY = re.compile(r"(?i)[-_.]retry(?:[-_.]?\d+(?:ms|s|m|h|d)?)?$")
_DELAY = re.compile(r"[-_.](\d{1,12})(ms|s|m|h|d)?$")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_IN_FRONT = re.compile(r"^dead-letter-topic-.*(?<!-dlt)(?<!\.DLT)$|_retry_\d+$", re.DOTALL)


@lru_cache(maxsize=256)  # few topics have all records
def is_dead_letter(topic: str) -> bool:
    return _DEAD.search(topic) is not None


@lru_cache(maxsize=256)  # few topics have all records
def is_retry(topic: str) -> bool:
    """A topic on which records wait for their next try: they are not parked."""
    return _RETRY.search(topic) is not None


def due_ms(topic: str, timestamp_ms: int) -> int | None:
    """When a record is tried again that came at that time to a topic whose name ends in its delay: `<t>_retry_<ms>`,
    `<t>.retry.30s`.
    """
    delay = _DELAY.search(topic)
    if delay is None or timestamp_ms < 0:
        return None
    due = timestamp_ms + int(delay[1]) * _MILLISECONDS[delay[2] or "ms"]
    return due if due < INT64 else None


@lru_cache(maxsize=256)  # few topics have all records
def in_front(topic: str) -> bool:
    """A topic of SmallRye's own, whose failure stands in front of all others: `dead-letter-topic-*`, `*_retry_<ms>`."""
    return _IN_FRONT.search(topic) is not None
