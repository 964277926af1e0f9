"""SmallRye Reactive Messaging and Quarkus (dlq formats, §3.7): text headers in front of those that were consumed.

So the first set is the newest, the last the oldest. The value is written anew by a serializer named after the
deserializer. What could not be deserialized stands as raw bytes in a header.
"""

from typing import Any

from parking.dialects import java, origin, topics
from parking.dialects.family import Family, Found
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, firsts, last, text
from parking.record import Headers, Record

_FAILURE, _DELAYED = "dead-letter-", "delayed-retry-"
_WHY, _WHERE = ("exception-class-name", "reason", "cause-class-name", "cause"), ("topic", "partition", "offset")
_COUNT, _ORIGINAL_TIMESTAMP, _FIRST = (
    _DELAYED + name for name in ("count", "original-timestamp", "first-processing-timestamp")
)
_NOT_DESERIALIZED, _FAILED_TO = "deserialization-failure-", ".RecordDeserializationException"
_CHANNEL = "dead-letter-topic-"
_NOT_ORIGINAL = "Its producer wrote the value anew with a serializer of its own."


def read(found: Found) -> Reading:
    topic = found.record.topic
    channel = topic.removeprefix(_CHANNEL) if topic.startswith(_CHANNEL) else ""
    return _read(
        found,
        _FAILURE,
        component=f"channel {channel}" if channel else None,
        derived=("component",) if channel else (),
    )


def read_delayed(found: Found) -> Reading:
    """A hop of a delayed retry, or its end. The three headers behind the sets are replaced at each hop."""
    headers = found.record.headers
    retries = decimal(last(headers, _COUNT))
    return _read(
        found,
        _DELAYED,
        decimal(last(headers, _ORIGINAL_TIMESTAMP)),
        kind=RETRY_PENDING if topics.is_retry(found.record.topic) else DEAD_LETTER,
        attempts=None if retries is None else retries + 1,
        first_failed_at_ms=decimal(last(headers, _FIRST)),
    )


def _read(found: Found, prefix: str, timestamp_ms: int | None = None, **said: Any) -> Reading:
    newest = _newest(found.record.headers, prefix)
    value = firsts(newest).get
    classes = [text(value(f"{prefix}exception-class-name")), text(value(f"{prefix}cause-class-name"))]
    failed_to = (classes[0] or "").endswith(_FAILED_TO)
    raw_key, raw_value = _raw(found.record) if failed_to else (None, None)
    return found.reading(
        origin.named(prefix).at(newest)._replace(timestamp_ms=timestamp_ms),
        original_key=None if raw_key == found.record.key else raw_key,
        original_value=None if raw_value == found.record.value else raw_value,
        not_original=_NOT_ORIGINAL if raw_value is None else "",
        **java.fields(classes, text(value(f"{prefix}reason")), None),
        **said,
    )


def _newest(headers: Headers, prefix: str) -> Headers:
    """The first set: its topic stands behind its classes and texts, and before the next set's."""
    topic, why = f"{prefix}topic", tuple(prefix + name for name in _WHY)
    begin = next((place for place, (name, _) in enumerate(headers) if name == topic), None)
    if begin is None:
        return headers
    behind = range(begin + 1, len(headers))
    end = next((place for place in behind if headers[place][0] in why or headers[place][0] == topic), len(headers))
    return headers[:end]


def _raw(record: Record) -> tuple[bytes | None, bytes | None]:
    """Key and value as they came to the deserializer; None where it is not told."""
    return record.last(f"{_NOT_DESERIALIZED}key-data"), record.last(f"{_NOT_DESERIALIZED}value-data")


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
