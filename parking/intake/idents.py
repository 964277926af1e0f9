"""What names a flow's event and its hold key in the store: SHA-256 of either may be looked up, however long it is."""

import hashlib
from functools import lru_cache

from parking.event_id import bounded
from parking.intake.flows import FlowFacts
from parking.intake.rows import Ident, KeyIdent

SHORT = 64


def ident(flow: FlowFacts, event_id: str) -> Ident:
    return Ident(flow.id, hashlib.sha256(bounded(event_id).encode("utf-8", "surrogatepass")).digest())


def key_ident(flow: FlowFacts, key: bytes) -> KeyIdent:
    return _short_key(flow.id, key) if len(key) <= SHORT else _key(flow.id, key)


def _key(flow: int, key: bytes) -> KeyIdent:
    return KeyIdent(flow, hashlib.sha256(key).digest())


_short_key = lru_cache(maxsize=8192)(_key)  # few keys have most of the events
