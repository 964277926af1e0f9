"""Spring for Apache Kafka, DeadLetterPublishingRecoverer (dlq formats, §3.1).

Each failure appends an exception set (`kafka_dlt-[key-]exception-*`) and then an original set (`kafka_dlt-original-*`);
since 2.8 older exception sets are stripped. Numbers are binary. `@RetryableTopic` has names of its own: another family.
"""

import base64
import binascii
import json
from typing import NamedTuple

from parking import error_group
from parking.coordinates import Coordinates
from parking.dialects import families, java, origin
from parking.dialects.reading import DEAD_LETTER, Reading
from parking.dialects.values import first, int32, int64, last, text
from parking.event_id import event_id
from parking.record import Headers, Record

FRAMEWORK = "spring-kafka"

_ORIGINAL, _EXCEPTION, _KEY_EXCEPTION = "kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-"
_TOPIC = f"{_ORIGINAL}topic"
_CAUSE = f"{_EXCEPTION}cause-fqcn"
_SHARED = f"{_ORIGINAL}consumer-group"  # @RetryableTopic writes it too
_ATTEMPT = "kafka_deliveryAttempt"
_OF_THE_FAILURE = (_ORIGINAL, _EXCEPTION, _KEY_EXCEPTION, "springDeserializerException")


class _Newest(NamedTuple):
    """The headers of the newest failure: its exception set with the attempt before it, and its original set."""

    exception: Headers
    original: Headers


def reads(record: Record) -> bool:
    """Whether the newest failure in the record is of this family."""
    own = _last_own(record.headers)
    return own > families.last_of_another(record.headers) and not families.smallrye_is_newest(
        record.topic, record.headers
    )


def read(record: Record) -> Reading:
    newest = _newest(record.headers)
    prefix = _exception_prefix(newest.exception)
    stacktrace = text(last(newest.exception, f"{prefix}stacktrace"))
    message = text(last(newest.exception, f"{prefix}message"))
    outer, cause = (text(last(newest.exception, name)) for name in (f"{prefix}fqcn", _CAUSE))
    stack = java.chain(stacktrace)
    error_class = java.telling_class([outer, cause], stack)
    source, oldest = _source(newest.original), origin.oldest(record.headers)
    earlier = oldest if oldest and oldest[:3] != source[:3] else None
    headers = _without_failure(record.headers)
    original_key, original_value = _unwrapped(record, [outer, cause])
    return Reading(
        framework=FRAMEWORK,
        kind=DEAD_LETTER,
        event_id=_event_id(record, headers, oldest),
        source_topic=source.topic or None,
        source_partition=source.partition,
        source_offset=source.offset,
        source_timestamp_ms=source.timestamp_ms,
        consumer_group=text(last(newest.original, _SHARED)),
        error_class=error_class,
        error_message=message,
        attempts=int32(last(newest.exception, _ATTEMPT)),
        stacktrace=stacktrace,
        origin_topic=earlier.topic if earlier else None,
        origin_partition=earlier.partition if earlier else None,
        origin_offset=earlier.offset if earlier else None,
        error_class_outer=outer,
        root_cause_from_stack=stack[-1] if stack else None,
        original_key=original_key,
        original_value=original_value,
        payload_missing=False,
        error_group=error_group.group(error_class or outer, message, stacktrace).digest,
        original_headers=headers,
    )


def _own(name: str) -> bool:
    return name.startswith((_ORIGINAL, _EXCEPTION, _KEY_EXCEPTION)) and name != _SHARED


def _last_own(headers: Headers) -> int:
    return next((place for place in range(len(headers) - 1, -1, -1) if _own(headers[place][0])), -1)


def _newest(headers: Headers) -> _Newest:
    """Cut where the sets before it end: what configuration drops from a set is never borrowed from an older one."""
    topics = [place for place, (name, _) in enumerate(headers) if name == _TOPIC]
    before = max(topics[-2] if len(topics) > 1 else -1, families.last_of_another(headers))
    return _Newest(headers[before + 1 :], headers[topics[-1] :] if topics else headers[before + 1 :])


def _exception_prefix(headers: Headers) -> str:
    """Of key and value, whose failure was written last; the value's where neither was."""
    for name, _ in reversed(headers):
        if name.startswith(_KEY_EXCEPTION):
            return _KEY_EXCEPTION
        if name.startswith(_EXCEPTION) and name != _CAUSE:
            return _EXCEPTION
    return _EXCEPTION


def _source(original: Headers) -> origin.Position:
    return origin.Position(
        text(first(original, _TOPIC)) or "",
        int32(first(original, f"{_ORIGINAL}partition")),
        int64(first(original, f"{_ORIGINAL}offset")),
        int64(first(original, f"{_ORIGINAL}timestamp")),
    )


def _without_failure(headers: Headers) -> Headers:
    """What the consumer had been given, as far as can be told: a kept failure header would mislead the next one."""
    return tuple(header for header in headers if not header[0].startswith(_OF_THE_FAILURE) and header[0] != _ATTEMPT)


def _event_id(record: Record, headers: Headers, oldest: origin.Position | None) -> str:
    """By the id headers, else the place of the first failure, which stays when it is redriven and fails again."""
    at = record.coordinates
    if oldest is not None and oldest.partition is not None and oldest.offset is not None:
        timestamp = -1 if oldest.timestamp_ms is None else oldest.timestamp_ms
        at = Coordinates(oldest.topic, oldest.partition, oldest.offset, timestamp)
    return event_id(Record(at.topic, at.partition, at.offset, at.timestamp_ms, None, None, headers))


def _unwrapped(record: Record, classes: list[str | None]) -> tuple[bytes | None, bytes | None]:
    """Key and value where the template's JSON serializer made a base64 text of the value (spring-kafka #2000)."""
    type_id = last(record.headers, "__TypeId__")
    deserialization = any(name and name.endswith(".DeserializationException") for name in classes)
    if type_id != b"[B" and not (deserialization and not record.has("__TypeId__")):
        return None, None
    value = _base64(_json_text(record.value))
    if value is None:
        return None, None
    key = _json_text(record.key)
    return (key.encode("utf-8", "surrogatepass") if key is not None else None), value


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
