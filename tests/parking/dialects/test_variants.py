"""What a producer may write as well, read from its source: other versions, other brokers, sets in another order."""

import pytest

from parking.dialects import identify
from tests.parking.dialects.sets import LISTENER, TIMESTAMP, int32, int64, record, spring, wolverine
from tests.parking.dialects.test_java_families import STACK, _long, _maybe, _text

FRAME = b"\0\0\0\0\7"


# Spring


STACK_OF_B = ("kafka_dlt-exception-stacktrace", b"a.b\n\tat x.Y.z(Y.java:1)")
CLASS, TRACE = "kafka_dlt-exception-fqcn", "kafka_dlt-exception-stacktrace"


def test_a_second_failure_without_cause_and_message_has_none_of_the_first():
    """Only headers that are written again are stripped (`appendOrReplace`): others of the first stay in front."""
    first = tuple(header for header in spring((), "a") if header[0] not in (CLASS, TRACE))
    reading = identify(record((*first, (CLASS, LISTENER), STACK_OF_B, *spring((), "b")[4:])))
    assert (reading.error_class, reading.error_message) == ("a.b", None)
    assert (reading.source_topic, reading.origin_topic, reading.consumer_group) == ("b", "a", "group-b")


def test_an_exception_set_behind_an_original_set_that_is_never_replaced():
    """`appendOriginalHeaders=false`: the position stays that of the first failure, in front of the newest exception."""
    original = spring((), "a")[4:]
    exception = spring((), "b")[:4]
    reading = identify(record((*original, *exception)))
    assert (reading.source_topic, reading.error_class, reading.error_message) == ("a", "a.b", "closed b")
    assert reading.consumer_group == "group-a"


def test_2_8_0_has_the_cause_under_the_name_of_the_class():
    headers = (
        ("kafka_original-topic", b"orders"), ("kafka_original-partition", int32(2)),
        ("kafka_original-offset", int64(7)), ("kafka_original-timestamp", int64(TIMESTAMP)),
        ("kafka_exception-fqcn", LISTENER), ("kafka_exception-fqcn", b"a.Closed"),
        ("kafka_exception-message", b"closed"), ("retry_topic-attempts", int32(2)),
    )  # fmt: skip
    reading = identify(record(headers, "orders-dlt"))
    assert (reading.error_class, reading.error_class_outer) == ("a.Closed", "a.Closed")
    assert (reading.error_message, reading.attempts) == ("closed", 1)


def test_headers_that_were_left_out_are_unknown():
    """`excludeHeader`: whatever is left tells what it tells."""
    whole = spring((), "a")
    for name, _ in whole:
        reading = identify(record([header for header in whole if header[0] != name]))
        assert reading.framework == "spring-kafka", name
        assert reading.error_class in ("a.a", None), name


# Wolverine


@pytest.mark.parametrize(
    ("uri", "topic"),
    [
        (b"kafka://topic/orders", "orders"),
        (b"emea://topic/orders.eu", "orders.eu"),
        (b"my-broker://topic/orders", "orders"),
        (b"orders", "orders"),
    ],
)
def test_wolverine_names_the_broker_where_there_are_several(uri, topic):
    headers = [(name, uri if name == "original-destination" else value) for name, value in wolverine((), "a")]
    reading = identify(record(headers, "wolverine-dead-letter-queue"))
    assert (reading.source_topic, reading.source_partition) == (topic, 2)


# Trendyol


def test_cronsumer_without_an_error_counts_as_it_is():
    headers = [*(("trace", b"1"),) * 9, ("x-retry-count", b"4"), ("x-produce-time", b"1796000000000000000")]
    assert identify(record(headers, "orders.error")).attempts == 4


# Registry records of older versions


def avro(*fields):
    return FRAME + b"".join(fields)


def test_bakdata_before_it_had_the_time_of_the_input():
    cause = map(_maybe, ["java.lang.IllegalStateException", "closed", STACK])
    value = avro(*map(_maybe, ["{}", "orders", 2, 17]), _text("booking"), *cause)
    reading = identify(record([], "app-dead", value=value))
    assert (reading.framework, reading.component, reading.source_topic) == ("bakdata", "booking", "orders")
    assert (reading.source_partition, reading.source_offset, reading.source_timestamp_ms) == (2, 17, None)
    assert (reading.error_class, reading.original_value) == ("java.lang.IllegalStateException", b"{}")


def test_bakdata_s_first_version_knew_no_place():
    value = avro(_maybe("{}"), _text("booking"), _maybe("closed"), _maybe(STACK))
    reading = identify(record([], "app-dead", value=value))
    assert (reading.framework, reading.source_topic, reading.error_message) == ("bakdata", None, "closed")
    assert (reading.error_class, reading.original_value) == ("java.lang.IllegalStateException", b"{}")


def test_kstreamplify_before_it_named_the_application():
    fields = [
        _maybe("closed"),
        _maybe("context"),
        _maybe(STACK),
        _maybe("{}"),
        _maybe(None),
        _long(17),
        _long(2),
        _text("orders"),
    ]
    reading = identify(record([], "app-dlq", value=avro(*fields)))
    assert (reading.framework, reading.source_topic, reading.source_offset) == ("kstreamplify", "orders", 17)
    assert (reading.component, reading.original_value) == (None, b"{}")
