"""Spring Cloud Stream, Kafka binder (dlq formats, §3.3): one set of `x-original-*` and `x-exception-*` per failure.

All sets are appended. The class is always a wrapper's; who failed and how often stands only in the name of the topic
and in the stack trace, which prints the failed message with its headers.
"""

import re
from typing import NamedTuple

from parking.dialects import java
from parking.dialects.family import Family, Found
from parking.dialects.origin import BINARY, named
from parking.dialects.reading import Reading
from parking.dialects.values import text

_SOURCE = named("x-original-", BINARY, timed=True)
_TIMESTAMP_TYPE = "x-original-timestamp-type"
_CLASS, _MESSAGE, _STACKTRACE = "x-exception-fqcn", "x-exception-message", "x-exception-stacktrace"
_GROUP = re.compile(r"[{ ]kafka_groupId=([^,}\s]+)[,}]")
_ATTEMPT = re.compile(r"[{ ]deliveryAttempt=([0-9]{1,9})[,}]")


class _Derived(NamedTuple):
    group: str | None
    attempts: int | None

    @property
    def names(self) -> tuple[str, ...]:
        found = (("consumer_group", self.group), ("attempts", self.attempts))
        return tuple(name for name, value in found if value is not None)


def read(found: Found) -> Reading:
    value = found.newest
    stacktrace = text(value(_STACKTRACE))
    source = _SOURCE.newest(found)
    derived = _derived(found.record.topic, source.topic, stacktrace or "")
    return found.reading(
        source,
        consumer_group=derived.group,
        attempts=derived.attempts,
        derived=derived.names,
        why=java.why([text(value(_CLASS))], text(value(_MESSAGE)), stacktrace),
    )


FAMILY = Family(
    "spring-cloud-stream",
    read,
    headers=(_TIMESTAMP_TYPE, _CLASS, _MESSAGE, _STACKTRACE),
    also=_SOURCE.names,
    begins=(_SOURCE.topic,),
    signature=lambda given: _SOURCE.topic in given and (_CLASS in given or _TIMESTAMP_TYPE in given),
    oldest=_SOURCE.first,
)


def _derived(topic: str, source_topic: str, stacktrace: str) -> _Derived:
    """The group from the default name `error.<topic>.<group>`, else from the failed message; the attempt from there."""
    message = stacktrace[stacktrace.rfind("failedMessage=") :] if "failedMessage=" in stacktrace else ""
    message = message.partition("\n")[0]
    default = f"error.{source_topic}."
    named = topic.removeprefix(default) if topic.startswith(default) else ""
    group, attempt = _GROUP.search(message), _ATTEMPT.search(message)
    return _Derived(named or (group[1] if group else None), int(attempt[1]) if attempt else None)
