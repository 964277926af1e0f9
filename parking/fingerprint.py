"""Digests that say "the same record" and "the same content" (DESIGN section 5)."""

import hashlib
from collections.abc import Iterable

from parking.fields import pack


def fingerprint(key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> bytes:
    """SHA-256 (32 bytes) over the original key, the value, then name and value of each original header in order."""
    fields: list[bytes | None] = [key, value]
    for name, header in headers:
        fields += [name.encode("utf-8", "surrogatepass"), header]
    return hashlib.sha256(pack(fields)).digest()


def content(key: bytes | None, value: bytes | None) -> bytes:
    """SHA-256 (32 bytes) of key and value alone: headers may differ between a producer's tries of one event."""
    return hashlib.sha256(pack([key, value])).digest()
