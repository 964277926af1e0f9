"""Headers under names that somebody made up (dlq formats, §6): read when they name a source topic or an error.

Numbers are mostly text; .NET writes them little-endian. What the names could mean beyond that is not guessed.
"""

from typing import NamedTuple

from parking.dialects import causes, identity, times, tokens, topics
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text
from parking.record import Headers, Record

_PARTITIONS, _OFFSETS, _YEAR_3000_MS, _ATTEMPTS = 10**6, 2**53, 32_503_680_000_000, 10**6


class Why(NamedTuple):
    """As `causes.fields` takes it."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


def why(found: Found) -> Why:
    """What headers of no family say of an error: for families that say nothing themselves."""
    return _why(_said(found.layout.kept(found.record.headers)))


def read(found: Found) -> Reading:
    record = found.record
    said, first = _said(record.headers), _said(tuple(reversed(record.headers)))
    return found.reading(
        _position(said),
        oldest=_position(first),
        headers=_without(record.headers),
        kind=RETRY_PENDING if topics.is_retry(record.topic) else DEAD_LETTER,
        consumer_group=text(said.get(tokens.GROUP)),
        attempts=number(said.get(tokens.ATTEMPTS), _ATTEMPTS),
        failed_at_ms=_time(said.get(tokens.FAILED_AT)),
        **causes.fields(*_why(said)),
    )


def number(value: bytes | None, most: int) -> int | None:
    """A number in an encoding that is not known: digits, else 4 or 8 bytes, big-endian if that is plausible."""
    if value is None or value.isdigit():
        return decimal(value)
    if len(value) not in (4, 8):
        return None
    either = (int.from_bytes(value, "big", signed=True), int.from_bytes(value, "little", signed=True))
    return next((found for found in either if 0 <= found <= most), None)


def _asks(record: Record) -> bool:
    said = _said(record.headers)
    return any(field in said for field in (tokens.TOPIC, tokens.MESSAGE, tokens.CLASS, tokens.STACK))


def _position(said: dict[str, bytes]) -> Position | None:
    position = Position(
        text(said.get(tokens.TOPIC)) or "",
        number(said.get(tokens.PARTITION), _PARTITIONS),
        number(said.get(tokens.OFFSET), _OFFSETS),
        _time(said.get(tokens.TIMESTAMP)),
    )
    return position if any(part not in ("", None) for part in position) else None


def _why(said: dict[str, bytes]) -> Why:
    return Why([text(said.get(tokens.CLASS))], text(said.get(tokens.MESSAGE)), text(said.get(tokens.STACK)))


def _said(headers: Headers) -> dict[str, bytes]:
    """Field → its value under the name that fits best, the last one of that name; empty ones not."""
    best: dict[str, tuple[int, bytes]] = {}
    for name, value in headers:
        token = tokens.token(name) if value else None
        if token is not None and value and token.rank <= best.get(token.field, (9, b""))[0]:
            best[token.field] = (token.rank, value)
    return {field: value for field, (_, value) in best.items()}


def _without(headers: Headers) -> Headers:
    kept = (one for one in headers if tokens.token(one[0]) is None)
    return tuple(one for one in kept if one[0] not in identity.CARRIED)


def _time(value: bytes | None) -> int | None:
    """A text (ISO 8601 or a number of whatever unit), or milliseconds in 8 bytes."""
    if value is None or len(value) > 64:
        return None
    told = times.any_of(value.decode("utf-8", "replace"))
    return told if told is not None or len(value) != 8 else number(value, _YEAR_3000_MS)


FAMILY = Family("hand-rolled", read, asks=_asks)
