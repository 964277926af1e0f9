"""Where Spring's template has made a base64 text of the bytes that it could not deserialize (spring-kafka #2000)."""

import base64
import binascii
import json
from collections.abc import Sequence

from parking.dialects.family import Found
from parking.dialects.values import last
from parking.record import Record

_TYPE_ID = "__TypeId__"
_REWRITTEN = "Its producer wrote the value anew as JSON."


def unwrapped(record: Record, classes: Sequence[str | None]) -> tuple[bytes | None, bytes | None]:
    """Key and value as they had been; None where the record's own bytes stand. `classes` are the exception's.

    Only the last `__TypeId__` tells, or without one that a deserialization failed: another JSON text is the payload,
    however much it looks like base64.
    """
    type_id = last(record.headers, _TYPE_ID)
    deserialization = any(name and name.endswith(".DeserializationException") for name in classes)
    if type_id != b"[B" and not (deserialization and not record.has(_TYPE_ID)):
        return None, None
    value = _base64(_json_text(record.value))
    if value is None:
        return None, None
    key = _json_text(record.key)
    return (key.encode("utf-8", "surrogatepass") if key is not None else None), value


def not_original(found: Found, value: bytes | None) -> str:
    """What to be careful with: a type behind the failure's headers is the only trace of a value that was written anew.

    `value` is what was unwrapped from it, if it was.
    """
    behind = found.record.headers[found.layout.end :]
    rewritten = value is None and any(name == _TYPE_ID and given != b"[B" for name, given in behind)
    return _REWRITTEN if rewritten else ""


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
