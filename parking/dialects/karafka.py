"""Karafka Pro, Ruby (dlq formats, §5): text headers, replaced at each failure; nothing of the error.

Until 2.4 the names begin with `original_` (before 2.0.17 `original-`) and the key is overwritten by the partition's
number; only 2.4 keeps the true one in a header. Since 2.5 `pipe_*` writes the same headers, but for the attempts, on
healthy records.
"""

from typing import Any

from parking.dialects import causes, dead_letter, hand_rolled, topics
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import decimal, text
from parking.record import Record

FRAMEWORK = "karafka"

_MEMBERS = ("topic", "partition", "offset", "consumer_group", "attempts", "trace_id", "key")
_PREFIXES = ("source_", "original_", "original-")
_OF_A_FAILURE = frozenset(
    prefix + (member.replace("_", "-") if prefix.endswith("-") else member)
    for prefix in _PREFIXES
    for member in _MEMBERS
)
_KEY_LOST = "Its producer replaced the key by the partition's number."


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    prefix = next(prefix for prefix in _PREFIXES if record.has(f"{prefix}topic"))

    def said(member: str) -> bytes | None:
        return record.last(prefix + (member.replace("_", "-") if prefix == "original-" else member))

    source = Position(text(said("topic")) or "", decimal(said("partition")), decimal(said("offset")))
    group, attempts = text(said("consumer_group")), decimal(said("attempts"))
    piped = prefix == "source_" and attempts is None and not topics.is_dead_letter(record.topic)
    why = causes.fields(*hand_rolled.why(record.headers))
    members: dict[str, Any] = {"consumer_group": group, "attempts": attempts, "kind": UNKNOWN if piped else DEAD_LETTER}
    if prefix != "source_" and record.key == said("partition"):
        members |= _key(record, f"{prefix}key")
    return dead_letter.of(FRAMEWORK, record, failure_header, source, why, **members)


def _key(record: Record, name: str) -> dict[str, Any]:
    """What tells the key that was overwritten; a null key is written as an empty text."""
    if not record.has(name):
        return {"not_original": _KEY_LOST}
    key = record.last(name) or None
    return {"original_key": key, "unwrapped": (key, record.value)}
