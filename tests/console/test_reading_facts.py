"""What a record's dialect tells beyond the columns of the store, on the event's page."""

from datetime import UTC, datetime

import pytest

from console.show.reading_facts import EARLIER_PASS, Fact, facts
from parking.record import Record
from tests.parking.dialects import sets
from tests.parking.dialects.sets import record


def test_who_failed_in_which_stage_and_where_first():
    mixed = sets.connect(sets.spring((), "a"), "b")
    assert facts(record(mixed)) == [
        Fact("Component", "connector b task 0"),
        Fact("Stage", "TASK_PUT"),
        Fact("First failed in", f"a / P2 / {sets.number('a')}"),
        Fact("Derived", "source time, consumer group"),
    ]


def test_the_class_as_written_and_the_root_stand_there_where_they_are_others():
    stack = b"a.Outer: x\n\tat a.B.c(B.java:1)\nCaused by: a.Thrown: y\nCaused by: a.Root: z\n"
    headers = [
        ("kafka_dlt-exception-fqcn", sets.LISTENER),
        ("kafka_dlt-exception-cause-fqcn", b"a.Thrown"),
        ("kafka_dlt-exception-stacktrace", stack),
        ("kafka_dlt-original-topic", b"orders"),
    ]
    assert facts(record(headers)) == [Fact("Class as written", sets.LISTENER.decode()), Fact("Root cause", "a.Root")]


def test_attempts_and_times():
    told = facts(record(sets.delayed((), "a"), "orders_retry_600"))
    assert Fact("Deliveries so far", "2") in told
    at = datetime.fromtimestamp((sets.TIMESTAMP + 50) // 1000, UTC).replace(microsecond=50_000)
    assert Fact("First failed at", at=at) in told


def test_a_position_that_may_be_of_an_earlier_pass_is_said():
    assert Fact("Careful", EARLIER_PASS) in facts(record(sets.retryable((), "a")))
    assert Fact("Careful", EARLIER_PASS) not in facts(record(sets.spring((), "a")))


@pytest.mark.parametrize(
    "headers", [[], [("siding-version", b"junk")], [("__streams.errors.exception", None)], [("tag", b"a")]]
)
def test_nothing_is_told_of_what_says_nothing(headers):
    assert facts(Record("orders", 0, 1, 2, b"k", b"v", tuple(headers))) in (
        [],
        [Fact("Derived", "source time")],
    )


def test_a_time_that_no_calendar_has_is_left_out():
    headers = [*sets.wolverine((), "a"), ("failed-at", b"9" * 18)]
    assert [fact.label for fact in facts(record(headers))] == ["Deliveries so far"]
