"""The signature of a replay record: whoever can write to the replay topic can make things happen."""

import hashlib
import hmac

from parking.fields import pack
from parking.record import Headers, Record
from parking.wire import names
from parking.wire.block import split

_SIGNED = (
    names.FLOW,
    names.EVENT_ID,
    names.ACTION,
    names.TOKEN,
    names.POSITION,
    names.SOURCE_TOPIC,
    names.SOURCE_PARTITION,
    names.SOURCE_OFFSET,
    names.SOURCE_TIMESTAMP,
    names.FINGERPRINT,
)


def sign(secret: bytes, hold_key: bytes | None, block: Headers) -> bytes:
    """HMAC-SHA-256, lower-case hex, over the hold key and the signed fields of the block as they are written."""
    values = dict(reversed(block))
    fields = [hold_key, *(values.get(name) for name in _SIGNED)]
    return hmac.new(secret, pack(fields), hashlib.sha256).hexdigest().encode("ascii")


def verify(secret: bytes, record: Record) -> bool:
    """Whether the replay record carries the signature that `secret` makes for it."""
    _, block = split(record.headers)
    arrived = dict(reversed(block)).get(names.SIGNATURE)
    return arrived is not None and hmac.compare_digest(arrived, sign(secret, record.key, block))
