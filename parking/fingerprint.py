"""Digests that say "the same record" and "the same content" (DESIGN section 5)."""

import hashlib
from collections.abc import Iterable

from parking.fields import pack
from parking.headers import pack as packed_headers


def fingerprint(key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]) -> bytes:
    """SHA-256 (32 bytes) over the original key, the value, then name and value of each original header in order."""
    return of_packed(key, value, packed_headers(tuple(headers)))


def of_packed(key: bytes | None, value: bytes | None, headers: bytes) -> bytes:
    """The same where the headers are packed already (`parking.headers.pack`)."""
    return hashlib.sha256(pack((key, value), headers)).digest()


def content(key: bytes | None, value: bytes | None) -> bytes:
    """SHA-256 (32 bytes) of key and value alone: headers may differ between a producer's tries of one event."""
    return hashlib.sha256(pack([key, value])).digest()
