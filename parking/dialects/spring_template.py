"""Where Spring's template has made a base64 text of the bytes that it could not deserialize (spring-kafka #2000)."""

import base64
import binascii
import json
from collections.abc import Sequence

from parking.dialects.family import Found
from parking.record import Headers

_TYPE_ID = "__TypeId__"
_OF_BYTES = (_TYPE_ID, b"[B")
_TOPICS = ("kafka_dlt-original-topic", "kafka_original-topic")
_REWRITTEN = "Its producer wrote the value anew as JSON."


def unwrapped(found: Found, classes: Sequence[str | None]) -> tuple[bytes | None, bytes | None]:
    """Key and value as they had been; None where the record's own bytes stand. `classes` are the exception's.

    Only the last `__TypeId__` tells, or without one that a deserialization failed: another JSON text is the payload,
    however much it looks like base64. Each pass may have wrapped it once more.
    """
    record = found.record
    if not (found.last(_TYPE_ID) == b"[B" if found.has(_TYPE_ID) else _is_deserialization(classes)):
        return None, None
    key, value = None, None
    for _ in range(_passes(record.headers)):
        content = _base64(_json_text(record.value if value is None else value))
        if content is None:
            break
        text = _json_text(record.key if key is None else key)
        key, value = (key if text is None else text.encode("utf-8", "surrogatepass")), content
    return key, value


def given(found: Found, value: bytes | None) -> Headers | None:
    """The headers that the consumer had been given, where the template's own type is to be left out as well.

    It tells of the base64 text; with the unwrapped `value` it would have the consumer expect bytes.
    """
    place = len(found.record.headers) - 1
    if value is None or found.layout.end > place or found.record.headers[place] != _OF_BYTES:
        return None
    return found.layout.kept(found.record.headers)[:-1]


def not_original(found: Found, value: bytes | None) -> str:
    """What to be careful with: a type behind the failure's headers is the only trace of a value that was written anew.

    `value` is what was unwrapped from it, if it was.
    """
    place = found.layout.lasts.get(_TYPE_ID, -1)
    if value is not None or place < found.layout.end:
        return ""
    behind = found.record.headers[found.layout.end :]
    return _REWRITTEN if [given for name, given in behind if name == _TYPE_ID and given != b"[B"] else ""


def _is_deserialization(classes: Sequence[str | None]) -> bool:
    return any(name is not None and name.endswith(".DeserializationException") for name in classes)


def _passes(headers: Headers) -> int:
    """How often it failed, so how often it may have been wrapped; at least once."""
    return max(1, sum(name in _TOPICS for name, _ in headers))


def _json_text(data: bytes | None) -> str | None:
    """The text, if these bytes are one JSON text and nothing else."""
    if not data or data[:1] != b'"':
        return None
    try:
        parsed = json.loads(data)
    except ValueError:
        return None
    return parsed if isinstance(parsed, str) else None


def _base64(encoded: str | None) -> bytes | None:
    try:
        return None if not encoded else base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
