"""The columns of a record's immutable row and payload, storable as they are, and the digest of all that arrived."""

import hashlib
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from parking.attempt import Attempt
from parking.dialects import Reading
from parking.dialects.layout import Layout
from parking.event_id import bounded
from parking.fields import pack as pack_fields
from parking.fingerprint import of_packed
from parking.headers import pack, pack_values, parts, written
from parking.intake.rows import Columns
from parking.record import Record
from parking.storable import text

NO_FINGERPRINT = b""
"""The fingerprint of an event whose key and value are not in its record: it is replayed once they are fetched."""
TYPE_HEADERS = ("event-type", "ce_type", "type")
NO_FAILURE = Attempt(0)
SHORT = 64
TOO_FAR = timedelta(days=1)
LATEST_MS = 253_402_300_800_000  # year 10 000


def columns(
    record: Record,
    reading: Reading,
    now: datetime,
    *,
    reason: str = "",
    doubt: str = "",
    original: bytes | None = None,
    last: Attempt = NO_FAILURE,
    blocked_by: str = "",
) -> Columns:
    """`original` is the fingerprint, where the record states it: it tells for certain what `doubt` says may be so."""
    key, value = reading.content(record)
    unwrapped = key is not record.key or value is not record.value
    headers, raw_headers = packed(record, reading)
    exact, source = bounded(reading.event_id), reading.source
    event_id = text(exact)
    if original:
        doubt = ""
    return Columns(
        dialect=reading.framework,
        event_id=event_id,
        event_id_bytes=None if event_id == exact else exact.encode("utf-8", "surrogatepass"),
        event_type=_event_type(record, reading.layout),
        parking_topic=text(record.topic, 240),
        parked_at=time(record.timestamp_ms, now) or now,
        source_topic=text(source.topic, 1000),
        source_partition=_int32(source.partition),
        source_offset=source.offset,
        source_at=time(source.timestamp_ms, now),
        consumer_group=text(reading.consumer_group or "", 1000),
        fingerprint=original or (NO_FINGERPRINT if reading.payload_missing else of_packed(key, value, headers)),
        error_type=text(last.error_type, 500),
        error_message=text(last.message, 10_000),
        blocked_by=text(blocked_by, 2000),
        unreadable_reason=text(f"{reason} {doubt}".strip() if doubt else reason.strip(), 2000),
        not_original=text(f"{reading.not_original} {doubt}".strip() if doubt else reading.not_original.strip(), 2000),
        key=key,
        value=value,
        headers=headers,
        raw_headers=raw_headers,
        wrapped=pack_fields([record.key, record.value]) if unwrapped else None,
    )


def content(record: Record, raw_headers: bytes) -> bytes:
    """SHA-256 of everything that arrived: the same coordinates with other bytes are another record."""
    return hashlib.sha256(pack_fields((b"%d" % record.timestamp_ms, record.key, record.value), raw_headers)).digest()


def packed(record: Record, reading: Reading) -> tuple[bytes, bytes]:
    """The original headers and all of them, packed; in most records the originals are the beginning of all."""
    original, headers, layout = reading.original_headers, record.headers, reading.layout
    names = written([name for name, _ in headers]) if layout is None else layout.written
    count, known = len(original), reading.packed_headers
    if headers[:count] != original:
        return pack(original), pack_values(names, headers)
    if known is not None:
        return known, known + pack_values(names[count:], headers[count:])
    every = parts(names, headers)
    return b"".join(every[: 3 * count]), b"".join(every)


def time(ms: int | None, now: datetime) -> datetime | None:
    """The time, where a clock could have said it."""
    if ms is None or not 0 < ms < LATEST_MS:
        return None
    at = datetime.fromtimestamp(ms / 1000, UTC)  # exact to the microsecond until the year 2242
    return at if at <= now + TOO_FAR else None


def _event_type(record: Record, layout: Layout | None) -> str:
    """What the event calls itself: by the first of its headers that says it."""
    if layout is None:
        told = [record.first(name) for name in TYPE_HEADERS]
    else:
        told = [record.headers[place][1] for place in layout.once(_types)]
    for value in told:
        if value:
            return _type(value) if len(value) <= SHORT else _type.__wrapped__(value)
    return ""


@lru_cache(maxsize=1024)
def _type(value: bytes) -> str:
    return text(value.decode("utf-8", "replace"), 200)


def _types(layout: Layout) -> tuple[int, ...]:
    return tuple(layout.firsts[name] for name in TYPE_HEADERS if name in layout.firsts)


def _int32(number: int | None) -> int | None:
    return number if number is not None and number < 2**31 else None
