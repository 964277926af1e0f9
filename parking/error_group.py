"""Failures with the same fingerprint: the error type, and the message without what differs from event to event."""

import hashlib
import re
from functools import lru_cache
from typing import NamedTuple

LOOKED_AT = 2000
"""Characters of a message that count; what follows is rarely the same twice."""

_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_VARYING = re.compile(
    r"(?=[-+\da-fA-F@])(?:"  # where none begins, no alternative is tried: half the time
    rf"(?P<time>{_TIME})|(?P<id>\b{_UUID}\b)|(?P<hash>@[0-9a-f]{{4,16}}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b)"
    r"|(?P<n>(?<![A-Za-z_])[-+]?\d+(?:[.,]\d+)*))"
)
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_ALIKE = 512
"""Characters of a message that is remembered without its digits."""
_BEFORE_ALL = "rejecting due to failed processing: "
"""What Bento's `reject_errored` puts in front of every message."""
_SAYS_NOTHING = ("failed to deserialize", "threw exception; ", "serialization error: ")
_CAUSED_BY = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)


class Group(NamedTuple):
    """`digest` (32 bytes) names the group; `pattern` is the normalised message: `amount must be positive: <n>`."""

    digest: bytes
    error_type: str
    pattern: str


def group(error_type: str | None, message: str | None, stacktrace: str | None = None) -> Group:
    """The group of a failure. Never raises; an unknown type or message is an empty text."""
    kind, pattern = error_type or "", normalised(telling(message or "", stacktrace or ""))
    return _short(kind, pattern) if len(kind) + len(pattern) <= _ALIKE else _group(kind, pattern)


def _group(kind: str, pattern: str) -> Group:
    packed = f"{kind}\0{pattern}".encode("utf-8", "surrogatepass")
    return Group(hashlib.sha256(packed).digest(), kind, pattern)


_short = lru_cache(maxsize=1024)(_group)


def telling(message: str, stacktrace: str) -> str:
    """The message without what is in front of every one; where it says nothing by itself, with the text of the stack's
    last cause.
    """
    message = message.removeprefix(_BEFORE_ALL)
    if message.removesuffix("\n").endswith(_SAYS_NOTHING):
        causes = _CAUSED_BY.findall(stacktrace[-20 * LOOKED_AT :])
        return f"{message.rstrip()} {causes[-1]}" if causes else message
    return message


def normalised(message: str) -> str:
    """The message with `<time>`, `<id>`, `<hash>`, `<hex>` and `<n>` for what differs, on one line."""
    alike = _alike(message.encode("ascii").translate(_ZEROS)) if len(message) <= _ALIKE and message.isascii() else None
    return _normalised(message[:LOOKED_AT]) if alike is None else alike


@lru_cache(maxsize=1024)
def _alike(zeros: bytes) -> str | None:
    """What all messages become that are the same but for their digits; None where a digit counts (`E42`, `0x1f`)."""
    pattern = _normalised(zeros.decode("ascii"))
    return None if "0" in pattern or b"0x" in zeros else pattern


def _normalised(looked_at: str) -> str:
    return _VARYING.sub(lambda found: f"<{found.lastgroup}>", " ".join(looked_at.split()))
