"""What a name that somebody made up for a failure says: `x-dlq-original-topic` is the source topic (dlq formats, §6).

Names are compared without case, without anything that is no letter, and without what only says "of a dead letter".
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

TOPIC, PARTITION, OFFSET, TIMESTAMP, KEY, VALUE, GROUP = (
    "topic", "partition", "offset", "timestamp", "key", "value", "group",
)  # fmt: skip
MESSAGE, CLASS, STACK, ATTEMPTS, FAILED_AT = "message", "class", "stack", "attempts", "failed_at"

LONGEST = 100
"""Characters of a name that is looked at, and remembered."""

_NO_LETTER = re.compile(r"[^a-z]+")
_SOURCE = r"(?:original|origin|orig|source|src|consumed|failed|input|incoming)(?:kafka|message|record|event)?"
_ERROR = r"(?:error|err|exception|failure|fault|reject(?:ion)?|deadletter(?:ing)?)"
_PATTERNS = {
    TOPIC: (rf"{_SOURCE}topic(?:name)?",),
    PARTITION: (rf"{_SOURCE}partition(?:id)?",),
    OFFSET: (rf"{_SOURCE}offset",),
    TIMESTAMP: (rf"{_SOURCE}(?:timestamp|time|ts)(?:ms)?",),
    KEY: (rf"{_SOURCE}key",),
    VALUE: (
        rf"{_SOURCE}(?:value|payload|body|data|message|record|event)",
        r"raw(?:value|payload|message|data|body)",
    ),
    GROUP: (rf"(?:{_SOURCE})?consumergroup(?:id|name)?", rf"{_SOURCE}group(?:id)?", r"groupid"),
    CLASS: (rf"{_ERROR}(?:root)?(?:class|type|fqcn|classname|name)",),
    STACK: (rf"(?:{_ERROR}|failed)?(?:stack|stacktrace|backtrace|traceback)",),
    ATTEMPTS: (
        rf"(?:{_ERROR}|delivery|retry|processing|total)?(?:attempts?|tries)(?:count|number|made)?",
        r"(?:re)?try(?:count|no)|retries|numretries",
        r"failures|(?:failure|delivery|redelivery|retries)count",
    ),
    FAILED_AT: (
        rf"(?:{_ERROR}|failed|died|parked|dead(?:lettered)?)(?:at|on|time|timestamp|ts|date)",
        r"(?:dlq|dlt|deadletter)(?:at|timestamp|time)",
    ),
    MESSAGE: (
        rf"{_ERROR}(?:message|msg|reason|text|description|detail|details|cause)?",
        r"(?:dlq|dlt|failed|poison)reason|reasonfailed",
    ),
}
_FIELDS = tuple((field, re.compile("|".join(patterns))) for field, patterns in _PATTERNS.items())
_OF_A_DEAD_LETTER = re.compile(r"^(?:dlq|dlt|dl|deadletter(?:queue|topic)?|kafka)(?=[a-z]{3})")
_VAGUE = re.compile(r"reason$|(?:re)?try(?:count|no)$|retries$|failures$|(?:failure|redelivery|retries)count$")
"""A reason is often a category beside the text of the error, a retry count is not the number of tries."""
_BARE = re.compile(r"(?:error|err|exception|failure|fault)$")


class Token(NamedTuple):
    """`rank` says how well the name fits, 0 best: of two names for one field the better one counts."""

    field: str
    rank: int


def token(name: str) -> Token | None:
    """Which field of a failure the name is for; None for any other name."""
    return _token(name) if len(name) <= LONGEST else None


def whole(names: Iterable[str]) -> bool:
    """Whether these names can tell of a failure by themselves: a topic, an offset and an error."""
    fields = {found.field for name in names if (found := token(name))}
    return TOPIC in fields and OFFSET in fields and bool(fields & {MESSAGE, CLASS})


@lru_cache(maxsize=4096)
def _token(name: str) -> Token | None:
    letters = _NO_LETTER.sub("", name.lower())
    letters = letters.removeprefix("x")
    found = _field(letters) or _field(_OF_A_DEAD_LETTER.sub("", letters))
    return Token(found, 2 if _VAGUE.search(letters) else 1 if _BARE.search(letters) else 0) if found else None


def _field(letters: str) -> str | None:
    return next((found for found, pattern in _FIELDS if pattern.fullmatch(letters)), None)
