"""Names that somebody made up: what they mean, and what is not guessed (dlq formats, §6)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import identify, made_up, tokens
from parking.record import Record


def record(headers, topic="orders-parked"):
    listed = headers.items() if isinstance(headers, dict) else headers
    return Record(topic, 3, 40, 1_796_000_000_000, b"k", b"v", tuple(listed))


MEANINGS = {
    "topic": """x-original-topic original_topic dlq.original.topic dlq-original-topic X-DLQ-Original-Topic sourceTopic
        dlq.source.topic originalTopicName kafka_original_topic""",
    "partition": "x-original-partition dlq.original.partition source_partition",
    "offset": "x-original-offset dlq.original.offset dlq-original-offset",
    "timestamp": "x-original-timestamp dlq.original.timestamp source-timestamp-ms",
    "group": "consumer_group x-dlq-consumer-group dlq-consumer-group group_id",
    "message": """x-error x-error-message x-error-reason x-dlq-error x-dlq-error-message x-dlq-reason dlq.error.message
        dlq.reason dlq_reason error exception error_reason dlq.exception.message failure-reason""",
    "class": "x-error-class dlq.error.class dlq.error.type dlq-error-class dlq.exception.class errorType",
    "stack": "x-error-stack x-dlq-stack dlq.error.stacktrace stacktrace error_traceback",
    "attempts": "x-attempts x-retry-count x-dlq-attempts x-dlq-attempt-count x-dlq-failures dlq.attempts retries",
    "failed_at": "x-failed-at x-dlq-failed-at x-dlq-timestamp dlq.failure.timestamp failed_at",
    None: """topic type status content-type event-type traceparent source ce_source error-code timestamp message key
        original-name tenant x-request-id retryable terror reason x""",
}


@pytest.mark.parametrize(("field", "names"), MEANINGS.items())
def test_what_a_name_means(field, names):
    for name in names.split():
        found = tokens.token(name)
        assert (found and found.field) == field, name


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        (b"7", 7),
        (struct.pack(">i", 7), 7),
        (struct.pack("<i", 7), 7),
        (struct.pack(">q", 7), 7),
        (struct.pack("<q", 184_467), 184_467),
        (b"1234", 1234),
        (struct.pack(">i", -1), None),
        (b"\7", None),
        (b"seven", None),
        (b"", None),
        (None, None),
    ],
)
def test_numbers_in_an_encoding_that_nobody_tells(raw, number):
    assert made_up.number(raw, 10**6) == number


def test_dotnet_writes_little_endian():
    headers = {
        "original-topic": b"orders",
        "original-partition": struct.pack("<i", 7),
        "original-offset": struct.pack("<q", 184_467),
        "original-timestamp": struct.pack("<q", 1_767_225_600_123),
        "error-reason": b"closed",
    }
    reading = identify(record(headers))
    assert (reading.framework, reading.source_partition, reading.source_offset) == ("hand-rolled", 7, 184_467)
    assert reading.source_timestamp_ms == 1_767_225_600_123


def test_the_better_name_counts_and_of_one_name_the_last():
    headers = [
        ("x-retry-count", b"2"), ("x-attempts", b"3"), ("x-error-message", b"first"), ("x-dlq-reason", b"max retries"),
        ("x-error-message", b"closed"), ("x-error", b"E"), ("x-original-topic", b"orders"), ("tag", None),
    ]  # fmt: skip
    reading = identify(record(headers))
    assert (reading.error_message, reading.attempts) == ("closed", 3)
    assert reading.original_headers == (("tag", None),)


def test_appended_sets_tell_the_first_place_as_well():
    def one(offset):
        return [("dlq.original.topic", b"orders"), ("dlq.original.partition", b"1"), ("dlq.original.offset", offset)]

    reading = identify(record([*one(b"5"), *one(b"9")]))
    assert (reading.source_offset, reading.origin_topic, reading.origin_offset) == (9, "orders", 5)


def test_a_python_traceback_tells_class_and_root():
    trace = (
        b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n\n'
        b"The above exception was the direct cause of the following exception:\n\n"
        b'Traceback (most recent call last):\n  File "a.py", line 2, in g\nshop.Unknown: 1\n'
    )
    reading = identify(record({"x-original-topic": b"orders", "x-error-stack": trace}))
    assert (reading.error_class, reading.root_cause, reading.root_cause_from_stack) == (
        "shop.Unknown",
        "KeyError",
        None,
    )


@pytest.mark.parametrize(
    ("headers", "topic", "kind"),
    [
        ({"x-error": b"no"}, "orders-dlq", "dead_letter"),
        ({"x-error": b"no"}, "orders-retry-3", "retry_pending"),
        ({"x-original-topic": b"orders"}, "parked", "dead_letter"),
        ({"x-original-topic": None, "x-error": b""}, "orders", "unknown"),
        ({"x-original-partition": b"1", "x-attempts": b"3"}, "orders", "unknown"),
        ({}, "orders-retry-3", "unknown"),
    ],
)
def test_a_source_topic_or_an_error_makes_it_a_failure(headers, topic, kind):
    assert identify(record(headers, topic)).kind == kind


def test_names_of_another_family_are_not_taken_for_hand_made_ones():
    """Redriven from Spring into Dapr: Spring's error is not Dapr's."""
    spring = [
        ("kafka_dlt-exception-fqcn", b"a.Old"), ("kafka_dlt-exception-message", b"old"),
        ("kafka_dlt-original-topic", b"orders"),
    ]  # fmt: skip
    dapr = [("__topic", b"orders"), ("__partition", b"1"), ("__offset", b"2")]
    reading = identify(record([*spring, *dapr]))
    assert (reading.framework, reading.error_message, reading.error_class) == ("dapr", None, None)


@given(st.text(max_size=150))
def test_any_name_has_a_meaning_or_none(name):
    found = tokens.token(name)
    assert found is None or found.rank in (0, 1, 2)
