"""What a record's dialect tells beyond what the store has columns for, read anew from the record as it arrived."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from console.show.texts import number
from parking.dialects import Reading, Unreadable, identify
from parking.record import Record

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = {
    "attempts": "deliveries",
    "component": "component",
    "consumer_group": "consumer group",
    "source_partition": "partition",
    "source_timestamp_ms": "source time",
    "source_topic": "source topic",
}
EARLIER_PASS = "The position may be that of an earlier pass: nothing names the newer one."


class Fact(NamedTuple):
    """A label for people, and a text or a time."""

    label: str
    text: str = ""
    at: datetime | None = None


def facts(record: Record) -> list[Fact]:
    """Who failed, how often and since when, in the order in which people ask; empty where nothing reads the record."""
    try:
        reading = identify(record)
    except Unreadable:
        return []
    return list(_facts(reading))


def _facts(reading: Reading) -> Iterator[Fact]:
    texts = (
        ("Component", reading.component),
        ("Stage", reading.stage),
        ("Deliveries so far", None if reading.attempts is None else number(reading.attempts)),
        ("Class as written", reading.error_class_outer),
        ("Root cause", reading.root_cause_from_stack or reading.root_cause),
        ("First failed in", _place(reading)),
        ("Derived", ", ".join(NAMES.get(name, name.replace("_", " ")) for name in reading.derived)),
        ("Careful", EARLIER_PASS if reading.position_may_be_earlier_pass else None),
    )
    yield from (Fact(label, text) for label, text in texts if text and text != reading.error_class)
    times = (
        ("First failed at", reading.first_failed_at_ms),
        ("Failed at", reading.failed_at_ms),
        ("Next try at", reading.due_at_ms),
    )
    yield from (Fact(label, at=at) for label, ms in times if (at := _time(ms)))


def _place(reading: Reading) -> str | None:
    """The oldest position in the record, where it is another than that of the latest failure."""
    topic, partition, offset = reading.origin_topic, reading.origin_partition, reading.origin_offset
    if topic is None and partition is None:
        return None
    parts = (topic or "?", f"P{'?' if partition is None else partition}", "?" if offset is None else number(offset))
    return " / ".join(parts)


def _time(ms: int | None) -> datetime | None:
    """The time, where the calendar has it."""
    try:
        return None if ms is None else EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
