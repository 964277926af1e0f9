r"""Which topics are meant by what a flow declares: a name, or all whose whole name fits a pattern (`^orders-.*\.DLT$`).

As with Kafka's clients, what begins with `^` is a pattern. RE2: people write them, and they match in linear time.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import re2

LONGEST = 249
"""Characters of a topic's name (Kafka), and of a pattern here."""
_NAME = re2.compile(r"[a-zA-Z0-9._-]+")


def is_pattern(declared: str) -> bool:
    return declared.startswith("^")


def fits(declared: str, topic: str) -> bool:
    """Whether the topic is meant: the whole of its name, never a part. Kafka's own topics (`__…`) fit no pattern."""
    if not is_pattern(declared):
        return declared == topic
    return not topic.startswith("__") and _compiled(declared).fullmatch(topic) is not None


def fitting(declared: Iterable[str]) -> Callable[[str], bool]:
    """A test of names against these patterns; names among them are left out."""
    patterns = [one for one in declared if is_pattern(one)]
    return lambda topic: any(fits(pattern, topic) for pattern in patterns)


def is_name(topic: str) -> bool:
    """Whether Kafka may have a topic of that name: its clients take no other text (a NUL is an error of the caller)."""
    return len(topic) <= LONGEST and topic not in (".", "..") and topic.isascii() and bool(_NAME.fullmatch(topic))


def check(declared: object) -> None:
    """Raise ValueError, with what was expected, for what is neither a name that Kafka takes nor a pattern."""
    if not isinstance(declared, str) or not 0 < len(declared) <= LONGEST:
        raise ValueError(f"a topic's name, or a pattern, of at most {LONGEST} characters was expected")
    if not is_pattern(declared):
        if not is_name(declared):
            raise ValueError(f"{declared!r}: letters, digits, '.', '_' and '-' were expected; a pattern begins with ^")
        return
    try:
        compiled = _compiled(declared)
    except re2.error as error:
        raise ValueError(f"{declared!r}: a pattern that RE2 reads was expected ({_said(error)})") from None
    if compiled.fullmatch("") or compiled.fullmatch("any-topic.of_all"):
        raise ValueError(f"{declared!r}: it fits every topic; a narrower pattern was expected")


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
