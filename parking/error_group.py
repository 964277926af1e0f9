"""Failures with the same fingerprint: the error type, and the message without what differs from event to event."""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

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
_SAYS_NOTHING = ("failed to deserialize", "threw exception; ", "serialization error: ")
_CAUSED_BY = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Group:
    """`digest` (32 bytes) names the group; `pattern` is the normalised message: `amount must be positive: <n>`."""

    digest: bytes
    error_type: str
    pattern: str


@lru_cache(maxsize=1)  # asked twice of each failure: by its dialect and for its row
def group(error_type: str | None, message: str | None, stacktrace: str | None = None) -> Group:
    """The group of a failure. Never raises; an unknown type or message is an empty text."""
    kind, pattern = error_type or "", normalised(telling(message or "", stacktrace or ""))
    packed = f"{kind}\0{pattern}".encode("utf-8", "surrogatepass")
    return Group(hashlib.sha256(packed).digest(), kind, pattern)


def telling(message: str, stacktrace: str) -> str:
    """The message; where it says nothing by itself, with the text of the stack's last cause."""
    if message.removesuffix("\n").endswith(_SAYS_NOTHING):
        causes = _CAUSED_BY.findall(stacktrace[-20 * LOOKED_AT :])
        return f"{message.rstrip()} {causes[-1]}" if causes else message
    return message


def normalised(message: str) -> str:
    """The message with `<time>`, `<id>`, `<hash>`, `<hex>` and `<n>` for what differs, on one line."""
    looked_at = " ".join(message[:LOOKED_AT].split())
    return _VARYING.sub(lambda found: f"<{found.lastgroup}>", looked_at)
