"""Kafka Connect, dead letters of a sink with context headers (dlq formats, §3.4). Without them see `unnamed`.

All is text; each failure appends a set that begins with the topic. Key, value and headers are those of the source, and
so is the record's timestamp.
"""

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import text

_PREFIX = "__connect.errors."
_SOURCE = origin.named(_PREFIX)
_CONNECTOR, _TASK, _STAGE = f"{_PREFIX}connector.name", f"{_PREFIX}task.id", f"{_PREFIX}stage"
_CLASS, _MESSAGE, _STACKTRACE = (f"{_PREFIX}exception.{name}" for name in ("class.name", "message", "stacktrace"))


def read(found: Found) -> Reading:
    value = found.newest
    source = origin.of_the_record(found.record, _SOURCE.newest(found))
    connector = text(value(_CONNECTOR))
    group = f"connect-{connector}" if connector else None
    derived = (("source_timestamp_ms", source.timestamp_ms), ("consumer_group", group))
    return found.reading(
        source,
        oldest=origin.with_timestamp(found.oldest(), source),
        consumer_group=group,
        component=_component(connector, text(value(_TASK))),
        stage=text(value(_STAGE)),
        derived=tuple(name for name, told in derived if told is not None),
        why=java.why([text(value(_CLASS))], text(value(_MESSAGE)), text(value(_STACKTRACE))),
    )


FAMILY = Family("kafka-connect", read, headers=(f"{_PREFIX}*",), begins=(_SOURCE.topic,), oldest=_SOURCE.first)


def _component(connector: str | None, task: str | None) -> str | None:
    if connector is None:
        return None
    return f"connector {connector}" if task is None else f"connector {connector} task {task}"
