"""A JSON envelope that somebody made up around the event (dlq formats, §6), read when it names a source or an error.

The event's value is a text in it (as it was, but for what was no UTF-8), base64, or an object that was written anew.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from parking.dialects import causes, envelope, json_members, times, tokens, topics
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.record import Record

_INSIDE = {
    "partition": tokens.PARTITION, "offset": tokens.OFFSET, "key": tokens.KEY, "payload": tokens.VALUE,
    "data": tokens.VALUE, "value": tokens.VALUE, "body": tokens.VALUE, "timestamp": tokens.FAILED_AT,
    "time": tokens.FAILED_AT, "group": tokens.GROUP, "reason": tokens.MESSAGE, "consumer_group_id": tokens.GROUP,
}  # fmt: skip
"""Names that mean this in an envelope, where they would mean anything elsewhere."""
_NESTED = (
    "error", "err", "exception", "failure", "source", "original", "origin", "kafka", "dlq", "metadata", "meta",
)  # fmt: skip
_ENCODED = re.compile(r"[-_.]?(?:b64|base64)$", re.IGNORECASE)
_MOST = 200
"""Members: an envelope has a few."""
_REPLACED = "�"

_REWRITTEN = "Its producer parsed the value and wrote it anew."
_LOSSY = "Its producer replaced what was no UTF-8."
_NO_VALUE = "The envelope does not contain the event's value."


class _Member(NamedTuple):
    path: list[str]
    value: Any


def _asks(record: Record) -> bool:
    value = record.value
    if value is None or value.lstrip()[:1] != b"{":
        return False
    said = _said(envelope.members(value))
    if json_members.text(_value(said, tokens.TOPIC)) is not None:
        return True
    wraps = tokens.VALUE in said and (_is_telling(said) or topics.is_dead_letter(record.topic))
    return wraps and _is_error(said)


def read(found: Found) -> Reading:
    record = found.record
    said = _said(envelope.members(record.value))
    key, value, not_original = _content(record, said)
    source = _source(said)
    return found.reading(
        source,
        oldest=source,
        kind=RETRY_PENDING if topics.is_retry(record.topic) else DEAD_LETTER,
        consumer_group=json_members.text(_value(said, tokens.GROUP)),
        attempts=json_members.number(_value(said, tokens.ATTEMPTS)),
        failed_at_ms=_time(_value(said, tokens.FAILED_AT)),
        original_key=key,
        original_value=value,
        unwrapped=(key if tokens.KEY in said else record.key, value) if tokens.VALUE in said else None,
        payload_missing=tokens.VALUE not in said,
        not_original=not_original,
        why=causes.why(*_why(said)),
    )


def _said(members: dict[str, Any] | None) -> dict[str, _Member]:
    """Field → the member for it, the one whose name fits best; of objects that group some, also what is inside."""
    best: dict[str, tuple[int, _Member]] = {}
    for name, path, value in _flat(members) if members and len(members) <= _MOST else ():
        found = _token(name) if len(name) <= tokens.LONGEST else None
        if found is not None and found.rank < best.get(found.field, (9, None))[0]:
            best[found.field] = (found.rank, _Member(path, value))
    return {field: member for field, (_, member) in best.items()}


@lru_cache(maxsize=4096)
def _token(name: str) -> tokens.Token | None:
    bare = _ENCODED.sub("", name)
    return tokens.token(bare) or (tokens.Token(_INSIDE[bare], 3) if bare in _INSIDE else None)


def _flat(members: dict[str, Any]) -> Iterator[tuple[str, list[str], Any]]:
    """Each member with its name and path; one of `{"error": {"type": …}}` is named `error_type`."""
    for name, value in members.items():
        if isinstance(value, dict) and len(value) <= _MOST and name.lower() in _NESTED:
            yield from ((f"{name}_{inner}", [name, inner], inside) for inner, inside in value.items())
        else:
            yield name, [name], value


def _value(said: dict[str, _Member], field: str) -> Any:
    return said[field].value if field in said else None


def _is_error(said: dict[str, _Member]) -> bool:
    return any(json_members.text(_value(said, field)) for field in (tokens.MESSAGE, tokens.CLASS, tokens.STACK))


def _is_telling(said: dict[str, _Member]) -> bool:
    """Whether anything but the error and some `data`, as many an event has them, says that it is an envelope."""
    explicit = said[tokens.VALUE].path[-1].lower() not in ("data", "value", "body")
    return explicit or any(field in said for field in (tokens.PARTITION, tokens.OFFSET, tokens.ATTEMPTS, tokens.GROUP))


def _source(said: dict[str, _Member]) -> Position:
    return Position(
        json_members.text(_value(said, tokens.TOPIC)) or "",
        json_members.number(_value(said, tokens.PARTITION)),
        json_members.number(_value(said, tokens.OFFSET)),
        _time(_value(said, tokens.TIMESTAMP)),
    )


def _why(said: dict[str, _Member]) -> tuple[list[str | None], str | None, str | None]:
    stack = _value(said, tokens.STACK)
    if isinstance(stack, list) and all(isinstance(line, str) for line in stack):
        stack = "\n".join(stack)
    return (
        [json_members.text(_value(said, tokens.CLASS))],
        json_members.text(_value(said, tokens.MESSAGE)),
        json_members.text(stack),
    )


def _content(record: Record, said: dict[str, _Member]) -> tuple[bytes | None, bytes | None, str]:
    """Key and value of the event, and why the value is not what it was."""
    key = _bytes(record, said.get(tokens.KEY))[0]
    if tokens.VALUE not in said:
        return key, None, _NO_VALUE
    value, not_original = _bytes(record, said[tokens.VALUE])
    return key, value, not_original


def _bytes(record: Record, member: _Member | None) -> tuple[bytes | None, str]:
    """The bytes that a member stands for, and why they are not what they were."""
    if member is None or member.value is None:
        return None, ""
    document = record.value or b""
    if not isinstance(member.value, str):
        return envelope.written(document, member.path, member.value), _REWRITTEN
    encoded = _ENCODED.search(member.path[-1])
    content = envelope.decoded(member.value) if encoded else envelope.told(member.value)
    if content is not None:
        return content, ""
    return envelope.written(document, member.path, member.value), _LOSSY if _REPLACED in member.value else ""


def _time(member: object) -> int | None:
    if isinstance(member, float) and 0 < member < 1e11:
        return round(member * 1000)
    return times.any_of(str(member) if isinstance(member, int) and not isinstance(member, bool) else _text(member))


def _text(member: object) -> str | None:
    return member if isinstance(member, str) else None


FAMILY = Family("json-envelope", read, asks=_asks)
