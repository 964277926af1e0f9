"""What the name of a topic says (dlq formats, §7): weak evidence, used only where a record itself says nothing."""

import re

_DEAD = re.compile(
    r"(?i)(?:^|[-_.])(?:dl[qtc]|dead[-_.]?letters?|dead[-_]messages?|poison\w*|failed[-_]messages)(?:[-_.]|$)"
    r"|^error(?:\.[^.]|$|-responses$)|^messenger_failed$"
)
_RETRY = re.compile(r"(?i)[-_.]retry(?:[-_.]?\d+(?:ms|s|m|h|d)?)?$")
_IN_FRONT = re.compile(r"^dead-letter-topic-.*(?<!-dlt)(?<!\.DLT)$|_retry_\d+$", re.DOTALL)


def is_dead_letter(topic: str) -> bool:
    return _DEAD.search(topic) is not None


def is_retry(topic: str) -> bool:
    """A topic on which records wait for their next try: they are not parked."""
    return _RETRY.search(topic) is not None


def in_front(topic: str) -> bool:
    """A topic of SmallRye's own, whose failure stands in front of all others: `dead-letter-topic-*`, `*_retry_<ms>`."""
    return _IN_FRONT.search(topic) is not None
