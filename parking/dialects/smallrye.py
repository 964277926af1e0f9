"""SmallRye Reactive Messaging and Quarkus (dlq formats, §3.7): text headers in front of those that were consumed.

So the first set is the newest, the last the oldest. The value is written anew by a serializer named after the
deserializer. What could not be deserialized stands as raw bytes in a header.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parking.dialects import java, origin, topics
from parking.dialects.family import Family, Found
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text

if TYPE_CHECKING:
    from parking.dialects.layout import Layout

_FAILURE, _DELAYED = "dead-letter-", "delayed-retry-"
_WHY, _WHERE = ("exception-class-name", "reason", "cause-class-name", "cause"), ("topic", "partition", "offset")
_COUNT, _ORIGINAL_TIMESTAMP, _FIRST = (
    _DELAYED + name for name in ("count", "original-timestamp", "first-processing-timestamp")
)
_NOT_DESERIALIZED, _FAILED_TO = "deserialization-failure-", ".RecordDeserializationException"
_CHANNEL = "dead-letter-topic-"
_NOT_ORIGINAL = "Its producer wrote the value anew with a serializer of its own."


@dataclass(frozen=True, eq=False)
class _Sets:
    """How the headers of one family are called."""

    prefix: str
    position: origin.Named

    def newest(self, found: Found) -> tuple[origin.Position, list[str | None]]:
        """Position, class, class of the cause and text of the first set."""
        headers, (position, places) = found.record.headers, found.layout.once(self._places)
        texts = [text(headers[place][1]) if place is not None else None for place in places]
        return found.position(self.position, position), texts

    def _places(self, layout: "Layout") -> tuple[origin.Places, list[int | None]]:
        names, firsts = layout.names, layout.firsts
        end = self._end(names, firsts.get(self.position.topic))
        told = (firsts.get(self.prefix + name, end) for name in ("exception-class-name", "cause-class-name", "reason"))
        return self.position.places(names, 0, end), [place if place < end else None for place in told]

    def _end(self, names: Sequence[str], topic: int | None) -> int:
        """Of the first set: its topic stands behind its classes and texts, and before the next set's."""
        begins = (self.position.topic, *(self.prefix + name for name in _WHY))
        behind = range(len(names) if topic is None else topic + 1, len(names))
        return next((place for place in behind if names[place] in begins), len(names))


_DEAD_LETTER, _DELAYED_RETRY = (_Sets(prefix, origin.named(prefix)) for prefix in (_FAILURE, _DELAYED))


def read(found: Found) -> Reading:
    topic = found.record.topic
    channel = topic.removeprefix(_CHANNEL) if topic.startswith(_CHANNEL) else ""
    return _read(
        found,
        _DEAD_LETTER,
        component=f"channel {channel}" if channel else None,
        derived=("component",) if channel else (),
    )


def read_delayed(found: Found) -> Reading:
    """A hop of a delayed retry, or its end. The three headers behind the sets are replaced at each hop."""
    record = found.record
    retries, waits = decimal(found.last(_COUNT)), topics.is_retry(record.topic)
    return _read(
        found,
        _DELAYED_RETRY,
        decimal(found.last(_ORIGINAL_TIMESTAMP)),
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        due_at_ms=topics.due_ms(record.topic, record.timestamp_ms) if waits else None,
        attempts=None if retries is None else retries + 1,
        first_failed_at_ms=decimal(found.last(_FIRST)),
    )


def _read(found: Found, sets: _Sets, timestamp_ms: int | None = None, **said: Any) -> Reading:
    source, (error_class, cause, reason) = sets.newest(found)
    failed_to = (error_class or "").endswith(_FAILED_TO)
    raw_key, raw_value = _raw(found) if failed_to else (None, None)
    return found.reading(
        source if timestamp_ms is None else source._replace(timestamp_ms=timestamp_ms),
        original_key=None if raw_key == found.record.key else raw_key,
        original_value=None if raw_value == found.record.value else raw_value,
        not_original=_NOT_ORIGINAL if raw_value is None else "",
        why=java.why([error_class, cause], reason, None),
        **said,
    )


def _raw(found: Found) -> tuple[bytes | None, bytes | None]:
    """Key and value as they came to the deserializer; None where it is not told."""
    return found.last(f"{_NOT_DESERIALIZED}key-data"), found.last(f"{_NOT_DESERIALIZED}value-data")


def _family(framework: str, prefix: str, *more: str) -> Family:
    return Family(
        framework,
        read if prefix == _FAILURE else read_delayed,
        headers=(*(prefix + name for name in (*_WHY, *_WHERE)), *more),
        also=(f"{_NOT_DESERIALIZED}*",),
        signature=lambda given: f"{prefix}topic" in given,
        oldest=origin.named(prefix).last,
        in_front=True,
    )


DEAD_LETTERS = _family("smallrye", _FAILURE)
DELAYED_RETRY = _family("smallrye-delayed-retry", _DELAYED, _COUNT, _ORIGINAL_TIMESTAMP, _FIRST)
