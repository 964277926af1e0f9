"""What wraps an event, undone: gzip, base64, and members of a JSON text as they are written (dlq formats, §8.5).

Nothing here raises or grows without bound: what cannot be undone is None.
"""

import ast
import base64
import binascii
import json
import zlib
from functools import lru_cache
from typing import Any

from parking.json_member import is_json, json_member

MOST = 16 * 1024 * 1024
"""Bytes of what is unwrapped, and of a JSON text that is looked into: Kafka's records are smaller, bombs are not."""
_GZIP = 16 + zlib.MAX_WBITS
_LONGEST_NUMBER = 4000
_SMALL = 64 * 1024


def gunzipped(data: bytes | None) -> bytes | None:
    """The content of one gzip stream (RFC 1952) that is whole and at most MOST bytes large; None otherwise."""
    if not data or data[:2] != b"\x1f\x8b":
        return None
    stream = zlib.decompressobj(_GZIP)
    try:
        content = stream.decompress(data, MOST)
    except zlib.error:
        return None
    return content if stream.eof and not stream.unused_data else None


def decoded(encoded: str | bytes | None) -> bytes | None:
    """The bytes of a base64 text (RFC 4648 §4), None where it is none."""
    if encoded is None:
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None


def members(value: bytes | None) -> dict[str, Any] | None:
    """The members of a JSON object; None for anything else. A huge number is NaN: it is only looked for, never sent."""
    if not value or len(value) > MOST or value.lstrip()[:1] != b"{":
        return None
    return _members(value) if len(value) > _SMALL else _asked_again(value)


def _members(value: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(value, parse_int=_number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_asked_again = lru_cache(maxsize=2)(_members)
"""Several families look into the same value in turn; nobody changes what they find."""


def written(document: bytes, path: list[str], member: object) -> bytes | None:
    """A member of a JSON text, which is `member` when read, as bytes: a text as its UTF-8, anything else as written.

    JSON in Python's own dialect (NaN) is written anew.
    """
    if member is None:
        return None
    if isinstance(member, str):
        return member.encode("utf-8", "surrogatepass")
    as_written = json_member(document, path)
    return json.dumps(member).encode() if as_written is None else as_written


def told(text: str) -> bytes | None:
    """The bytes that a text surely stands for: Python's repr `b'…'`, or base64 of JSON or of Confluent's wire format.

    None for any other text, which is the value itself, however much it looks like base64.
    """
    if text[:2] in ("b'", 'b"'):
        return _literal(text)
    content = decoded(text) if text.startswith(("ey", "ew", "W", "AAAA")) else None
    if content is None:
        return None
    return content if content[:3] == b"\0\0\0" or _is_json(content) else None


def _literal(text: str) -> bytes | None:
    try:
        content = ast.literal_eval(text) if len(text) <= MOST else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return content if isinstance(content, bytes) else None


def _is_json(content: bytes) -> bool:
    try:
        return is_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_NUMBER else float("nan")
