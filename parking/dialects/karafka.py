"""Karafka Pro, Ruby (dlq formats, §5): text headers, replaced at each failure; nothing of the error.

Until 2.4 the names begin with `original_` (before 2.0.17 `original-`) and the key is overwritten by the partition's
number; only 2.4 keeps the true one in a header. Since 2.5 `pipe_*` writes the same headers, but for the attempts, on
healthy records.
"""

from typing import Any

from parking.dialects import causes, hand_rolled, topics
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import decimal, text

_PLACE = ("topic", "partition", "offset")
_KEY_LOST = "Its producer replaced the key by the partition's number."


def _now(found: Found) -> Reading:
    return _read(found, "source_", "_")


def _until_2_4(found: Found) -> Reading:
    return _read(found, "original_", "_")


def _before_2_0_17(found: Found) -> Reading:
    return _read(found, "original-", "-")


def _read(found: Found, prefix: str, dash: str) -> Reading:
    record = found.record
    attempts = decimal(found.last(f"{prefix}attempts"))
    piped = prefix == "source_" and attempts is None and not topics.is_dead_letter(record.topic)
    return found.reading(
        _position(found, prefix),
        kind=UNKNOWN if piped else DEAD_LETTER,
        consumer_group=text(found.last(f"{prefix}consumer{dash}group")),
        attempts=attempts,
        **_key(found, prefix),
        why=causes.why(*hand_rolled.why(found)),
    )


def _key(found: Found, prefix: str) -> dict[str, Any]:
    """What tells the key where it was overwritten; a null key is written as an empty text."""
    record = found.record
    if prefix == "source_" or record.key is None or record.key != found.last(f"{prefix}partition"):
        return {}
    if not found.has(f"{prefix}key"):
        return {"not_original": _KEY_LOST}
    key = found.last(f"{prefix}key") or None
    return {"original_key": key, "unwrapped": (key, record.value)}


def _position(found: Found, prefix: str) -> Position | None:
    topic = text(found.last(f"{prefix}topic"))
    numbers = (decimal(found.last(prefix + name)) for name in ("partition", "offset"))
    return Position(topic, *numbers) if topic else None


FAMILY = Family(
    "karafka",
    _now,
    headers=tuple(f"source_{name}" for name in (*_PLACE, "consumer_group", "attempts", "trace_id")),
    signature=all_of("source_topic", "source_offset", "source_consumer_group"),
    oldest=lambda found: _position(found, "source_"),
)
UNTIL_2_4 = Family(
    "karafka",
    _until_2_4,
    headers=tuple(f"original_{name}" for name in (*_PLACE, "consumer_group", "attempts", "key")),
    signature=all_of("original_topic", "original_offset", "original_consumer_group"),
    oldest=lambda found: _position(found, "original_"),
)
BEFORE_2_0_17 = Family(
    "karafka",
    _before_2_0_17,
    headers=tuple(f"original-{name}" for name in (*_PLACE, "consumer-group")),
    signature=all_of("original-topic", "original-offset", "original-consumer-group"),
    oldest=lambda found: _position(found, "original-"),
)
