"""Spring Cloud Stream, Kafka binder (dlq formats, §3.3): one set of `x-original-*` and `x-exception-*` per failure.

All sets are appended. The class is always a wrapper's; who failed and how often stands only in the name of the topic
and in the stack trace, which prints the failed message with its headers.
"""

import re
from typing import NamedTuple

from parking.dialects import families, identity, java, origin
from parking.dialects.reading import DEAD_LETTER, Reading
from parking.dialects.values import first, int32, int64, text
from parking.record import Headers, Record

FRAMEWORK = "spring-cloud-stream"

_ORIGINAL, _EXCEPTION = "x-original-", "x-exception-"
_TOPIC = f"{_ORIGINAL}topic"
_OF_A_FAILURE = frozenset(
    (
        *(f"{_ORIGINAL}{name}" for name in ("topic", "partition", "offset", "timestamp", "timestamp-type")),
        *(f"{_EXCEPTION}{name}" for name in ("fqcn", "message", "stacktrace")),
    )
)
_SIGNATURE = (f"{_EXCEPTION}fqcn", f"{_ORIGINAL}timestamp-type")
_GROUP = re.compile(r"[{ ]kafka_groupId=([^,}\s]+)[,}]")
_ATTEMPT = re.compile(r"[{ ]deliveryAttempt=([0-9]{1,9})[,}]")


class _Derived(NamedTuple):
    group: str | None
    attempts: int | None

    @property
    def names(self) -> tuple[str, ...]:
        found = (("consumer_group", self.group), ("attempts", self.attempts))
        return tuple(name for name, value in found if value is not None)


def reads(record: Record) -> bool:
    """Whether the newest failure in the record is of this family; hand-made `x-original-*` headers are not."""
    is_newest = families.newest(record.topic, record.headers) == families.STREAM
    return is_newest and record.has(_TOPIC) and any(record.has(name) for name in _SIGNATURE)


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: each pass would add another set."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    newest = _newest(record.headers)
    stacktrace = text(first(newest, f"{_EXCEPTION}stacktrace"))
    source, oldest = _source(newest), origin.oldest(record.headers)
    headers = _without_failure(record.headers)
    derived = _derived(record.topic, source.topic, stacktrace or "")
    return Reading(
        framework=FRAMEWORK,
        kind=DEAD_LETTER,
        event_id=identity.of(record, headers, oldest),
        consumer_group=derived.group,
        attempts=derived.attempts,
        payload_missing=False,
        derived=derived.names,
        token=identity.token(record),
        original_headers=headers,
        **origin.fields(source, oldest),
        **java.fields(
            [text(first(newest, f"{_EXCEPTION}fqcn"))], text(first(newest, f"{_EXCEPTION}message")), stacktrace
        ),
    )


def _newest(headers: Headers) -> Headers:
    """From the last topic header on: a message that this failure has not is not borrowed from an older one."""
    places = [place for place, (name, _) in enumerate(headers) if name == _TOPIC]
    return headers[places[-1] :]


def _source(newest: Headers) -> origin.Position:
    return origin.Position(
        text(first(newest, _TOPIC)) or "",
        int32(first(newest, f"{_ORIGINAL}partition")),
        int64(first(newest, f"{_ORIGINAL}offset")),
        int64(first(newest, f"{_ORIGINAL}timestamp")),
    )


def _without_failure(headers: Headers) -> Headers:
    return tuple(header for header in headers if header[0] not in _OF_A_FAILURE and header[0] not in identity.CARRIED)


def _derived(topic: str, source_topic: str, stacktrace: str) -> _Derived:
    """The group from the default name `error.<topic>.<group>`, else from the failed message; the attempt from there."""
    message = stacktrace[stacktrace.rfind("failedMessage=") :] if "failedMessage=" in stacktrace else ""
    message = message.partition("\n")[0]
    default = f"error.{source_topic}."
    named = topic.removeprefix(default) if topic.startswith(default) else ""
    group, attempt = _GROUP.search(message), _ATTEMPT.search(message)
    return _Derived(named or (group[1] if group else None), int(attempt[1]) if attempt else None)
