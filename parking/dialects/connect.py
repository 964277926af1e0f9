"""Kafka Connect, dead letters of a sink with context headers (dlq formats, §3.4). Without them see `unnamed`.

All is text; each failure appends a set that begins with the topic. Key, value and headers are those of the source, and
so is the record's timestamp.
"""

from parking.dialects import families, identity, java, origin
from parking.dialects.reading import DEAD_LETTER, Reading
from parking.dialects.values import decimal, first, text
from parking.record import Headers, Record

FRAMEWORK = "kafka-connect"

_PREFIX = "__connect.errors."
_TOPIC = f"{_PREFIX}topic"


def reads(record: Record) -> bool:
    """Whether the newest failure in the record is of this family."""
    return families.newest(record.topic, record.headers) == families.CONNECT


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name.startswith(_PREFIX)


def read(record: Record) -> Reading:
    newest = _newest(record.headers)
    said = {name: text(first(newest, _PREFIX + name)) for name in _TEXTS}
    source, oldest = _source(newest, record), origin.oldest(record.headers)
    headers = _without_failure(record.headers)
    connector = said["connector.name"]
    group = f"connect-{connector}" if connector else None
    derived = (("source_timestamp_ms", source.timestamp_ms), ("consumer_group", group))
    return Reading(
        framework=FRAMEWORK,
        kind=DEAD_LETTER,
        event_id=identity.of(record, headers, _with_timestamp(oldest, source)),
        consumer_group=group,
        component=_component(connector, said["task.id"]),
        stage=said["stage"],
        payload_missing=False,
        derived=tuple(name for name, value in derived if value is not None),
        token=identity.token(record),
        original_headers=headers,
        **origin.fields(source, oldest),
        **java.fields([said["exception.class.name"]], said["exception.message"], said["exception.stacktrace"]),
    )


_TEXTS = (
    "connector.name", "task.id", "stage", "exception.class.name", "exception.message", "exception.stacktrace",
)  # fmt: skip


def _newest(headers: Headers) -> Headers:
    own = families.after_others(families.CONNECT, headers)
    places = [place for place, (name, _) in enumerate(own) if name == _TOPIC]
    return own[places[-1] :] if places else own


def _source(newest: Headers, record: Record) -> origin.Position:
    return origin.Position(
        text(first(newest, _TOPIC)) or "",
        decimal(first(newest, f"{_PREFIX}partition")),
        decimal(first(newest, f"{_PREFIX}offset")),
        record.timestamp_ms if record.timestamp_ms >= 0 else None,
    )


def _with_timestamp(oldest: origin.Position | None, source: origin.Position) -> origin.Position | None:
    """No set carries its timestamp, but the record keeps that of the newest position."""
    return source if oldest is not None and oldest[:3] == source[:3] else oldest


def _component(connector: str | None, task: str | None) -> str | None:
    if connector is None:
        return None
    return f"connector {connector}" if task is None else f"connector {connector} task {task}"


def _without_failure(headers: Headers) -> Headers:
    return tuple(header for header in headers if not failure_header(header[0]) and header[0] not in identity.CARRIED)
