"""Bytes, numbers and spans of time as people read them."""

import re
from datetime import timedelta

THIN = "\u202f"  # narrow no-break space: between groups of digits, and between a number and its unit
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def number(value: int) -> str:
    """88120 → `88 120`, grouped by narrow no-break spaces; every digit stays."""
    return f"{value:,}".replace(",", THIN)


def span(length: timedelta) -> str:
    """A span in its two largest units: `3 h 12 m`, `41 s`, `2 d 3 h`, `12 d`; below a second `0 s`."""
    left = max(0, int(length.total_seconds()))
    for place, (unit, size) in enumerate(_UNITS):
        if left >= size or size == 1:
            first = f"{number(left // size)}{THIN}{unit}"
            rest = left % size
            if size == 1 or (unit == "d" and left // size >= 10):
                return first
            next_unit, next_size = _UNITS[place + 1]
            second = rest // next_size
            return f"{first} {second}{THIN}{next_unit}" if second else first
    raise AssertionError


def size(count: int) -> str:
    """Bytes: `812 bytes`, `5.0 MB`; units of 1000."""
    if count < 1_000:
        return "1 byte" if count == 1 else f"{count} bytes"
    for unit, scale in (("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)):
        if count < scale * 1_000 or unit == "GB":
            return f"{count / scale:.1f}{THIN}{unit}"
    raise AssertionError


def text_of(data: bytes) -> str:
    """Bytes as text where they are UTF-8, else as `0x…`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "0x" + data.hex()


def shortened(text: str, longest: int) -> str:
    """At most that many characters, the end replaced by `…`; the page shows the whole elsewhere."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


_QUALIFIED = re.compile(r"(?:\w+[.$])+(\w+)")


def simple_name(error_type: str) -> str:
    """`com.example.billing.TaxRateMissing` → `TaxRateMissing`; what is no qualified name of a class stays as it is."""
    qualified = _QUALIFIED.fullmatch(error_type)
    return qualified[1] if qualified else error_type


_WRAPPED = re.compile(r"(?:Listener method '[^']*' threw exception|Listener failed); (?=\S)")


def unwrapped(message: str) -> str:
    """A message without what the framework says before it: `Listener failed; no tax rate` → `no tax rate`."""
    return _WRAPPED.sub("", message, count=1) if _WRAPPED.match(message) else message
