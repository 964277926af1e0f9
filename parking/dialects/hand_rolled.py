"""Headers under names that somebody made up (dlq formats, §6): read when they name a source topic or an error.

Numbers are mostly text; .NET writes them little-endian. What the names could mean beyond that is not guessed.
"""

from collections.abc import Iterable
from typing import NamedTuple

from parking.dialects import causes, dead_letter, families, times, tokens, topics
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text
from parking.record import Headers, Record

FRAMEWORK = "hand-rolled"

_PARTITIONS, _OFFSETS, _YEAR_3000_MS, _ATTEMPTS = 10**6, 2**53, 32_503_680_000_000, 10**6


class Why(NamedTuple):
    """As `causes.fields` takes it."""

    classes: list[str | None]
    message: str | None
    stacktrace: str | None


def reads(record: Record) -> bool:
    """Whether a header names a source topic or an error."""
    said = _said(record.headers)
    return any(said.get(field) for field in (tokens.TOPIC, tokens.MESSAGE, tokens.CLASS, tokens.STACK))


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return tokens.token(name) is not None


def why(headers: Headers) -> Why:
    """What headers of no family say of an error: for families that say nothing themselves."""
    return _why(_said(headers))


def read(record: Record) -> Reading:
    said = _said(record.headers)
    source = Position(
        text(said.get(tokens.TOPIC)) or "",
        number(said.get(tokens.PARTITION), _PARTITIONS),
        number(said.get(tokens.OFFSET), _OFFSETS),
        _time(said.get(tokens.TIMESTAMP)),
    )
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        source,
        causes.fields(*_why(said)),
        kind=RETRY_PENDING if topics.is_retry(record.topic) else DEAD_LETTER,
        consumer_group=text(said.get(tokens.GROUP)),
        attempts=number(said.get(tokens.ATTEMPTS), _ATTEMPTS),
        failed_at_ms=_time(said.get(tokens.FAILED_AT)),
    )


def number(value: bytes | None, most: int) -> int | None:
    """A number in an encoding that is not known: digits, else 4 or 8 bytes, big-endian if that is plausible."""
    if value is None or value.isdigit():
        return decimal(value)
    if len(value) not in (4, 8):
        return None
    either = (int.from_bytes(value, "big", signed=True), int.from_bytes(value, "little", signed=True))
    return next((found for found in either if 0 <= found <= most), None)


def _why(said: dict[str, bytes]) -> Why:
    return Why([text(said.get(tokens.CLASS))], text(said.get(tokens.MESSAGE)), text(said.get(tokens.STACK)))


def _said(headers: Headers) -> dict[str, bytes]:
    """Field → its value under the name that fits best, the last one of that name; those of other families not."""
    best: dict[str, tuple[int, bytes]] = {}
    for found, value in _tokens(headers):
        if value and found.rank <= best.get(found.field, (9, b""))[0]:
            best[found.field] = (found.rank, value)
    return {field: value for field, (_, value) in best.items()}


def _tokens(headers: Headers) -> Iterable[tuple[tokens.Token, bytes | None]]:
    for name, value in headers:
        found = tokens.token(name)
        if found is not None and families.family(name) is None:
            yield found, value


def _time(value: bytes | None) -> int | None:
    """A text (ISO 8601 or a number of whatever unit), or milliseconds in 8 bytes."""
    if value is None or len(value) > 64:
        return None
    told = times.any_of(value.decode("utf-8", "replace"))
    return told if told is not None or len(value) != 8 else number(value, _YEAR_3000_MS)
