"""What headers under made-up names say (dlq formats, §6). Numbers are mostly text; .NET writes them little-endian."""

from typing import NamedTuple

from parking.dialects import times, tokens
from parking.dialects.origin import Position
from parking.dialects.values import decimal, text
from parking.record import Headers

_MOST = 2000
"""Headers that are looked at, those that stand last: names that nobody has seen before take time."""
_PARTITIONS, _OFFSETS, _YEAR_3000_MS = 10**6, 2**53, 32_503_680_000_000


class Said(NamedTuple):
    """As `causes.why` takes it."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


def number(value: bytes | None, most: int) -> int | None:
    """A number in an encoding that is not known: digits, else 4 or 8 bytes, big-endian if that is plausible."""
    if value is None or value.isdigit():
        return decimal(value)
    if len(value) not in (4, 8):
        return None
    either = (int.from_bytes(value, "big", signed=True), int.from_bytes(value, "little", signed=True))
    return next((found for found in either if 0 <= found <= most), None)


def position(given: dict[str, bytes]) -> Position | None:
    told = Position(
        text(given.get(tokens.TOPIC)) or "",
        number(given.get(tokens.PARTITION), _PARTITIONS),
        number(given.get(tokens.OFFSET), _OFFSETS),
        time(given.get(tokens.TIMESTAMP)),
    )
    return told if any(part not in ("", None) for part in told) else None


def why(given: dict[str, bytes]) -> Said:
    return Said([text(given.get(tokens.CLASS))], text(given.get(tokens.MESSAGE)), text(given.get(tokens.STACK)))


def said(headers: Headers) -> dict[str, bytes]:
    """Field → its value under the name that fits best, the last one of that name; empty ones not."""
    best: dict[str, tuple[int, bytes]] = {}
    for name, value in headers[-_MOST:]:
        token = tokens.token(name) if value else None
        if token is not None and value and token.rank <= best.get(token.field, (9, b""))[0]:
            best[token.field] = (token.rank, value)
    return {field: value for field, (_, value) in best.items()}


def time(value: bytes | None) -> int | None:
    """A text (ISO 8601 or a number of whatever unit), or milliseconds in 8 bytes."""
    if value is None or len(value) > 64:
        return None
    told = times.any_of(value.decode("utf-8", "replace"))
    return told if told is not None or len(value) != 8 else number(value, _YEAR_3000_MS)
