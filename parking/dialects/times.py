"""Times as producers write them, in milliseconds since 1970; what cannot be one is unknown. Never an exception."""

import re
from datetime import UTC, datetime, timedelta, timezone

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,:](\d{1,9}))?)? ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_YEAR_3000_MS = 32_503_680_000_000


def iso(text: str | None) -> int | None:
    """ISO 8601 with up to 9 digits after the seconds, also with a blank for the T; without a zone it is UTC."""
    found = _ISO.fullmatch(text.strip()) if text and len(text) < 64 else None
    if found is None:
        return None
    year, month, day, hour, minute = (int(part) for part in found.groups()[:5])
    fraction = int((found[7] or "").ljust(9, "0")[:6])
    try:
        at = datetime(year, month, day, hour, minute, int(found[6] or 0), fraction, _zone(found[8]))
        ms = (at - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None
    return ms if ms >= 0 else None


def epoch(number: int | None) -> int | None:
    """A time since 1970 in whatever unit its size says: seconds, milli-, micro- or nanoseconds."""
    if number is None or number <= 0:
        return None
    for unit, size in ((1000, 1), (1, 1), (1, 1000), (1, 1_000_000)):
        ms = number * unit // size
        if ms < _YEAR_3000_MS:
            return ms
    return None


def any_of(text: str | None) -> int | None:
    """A text that is either."""
    text = (text or "").strip()
    if text.isascii() and text.isdigit() and len(text) < 20:
        return epoch(int(text))
    return iso(text)


def _zone(name: str | None) -> timezone:
    if name in (None, "", "Z", "UTC"):
        return UTC
    assert name is not None
    digits = name[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if name[0] == "-" else offset)
