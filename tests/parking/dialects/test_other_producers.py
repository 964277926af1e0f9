"""What the sample records do not show: other versions, sets that lack something, junk. Names: dlq formats, §3."""

import struct

import pytest

from parking.dialects import UNATTRIBUTED, added, identify
from parking.record import Record
from parking.wire import names

WRAPPER = b"org.springframework.messaging.MessagingException"


def record(headers, topic="orders-dlt", *, key=b"k", value=b"{}", timestamp_ms=1_796_000_000_000):
    return Record(topic, 3, 40, timestamp_ms, key, value, tuple(headers))


def connect(topic=b"orders", partition=b"2", offset=b"17", connector=b"sink", **more):
    fields = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "connector.name": connector,
        "task.id": b"0",
        "stage": b"TASK_PUT",
        "exception.class.name": b"java.lang.IllegalStateException",
        "exception.message": b"closed",
        "exception.stacktrace": b"java.lang.IllegalStateException: closed\n\tat a.B.c(B.java:1)",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    return [(f"__connect.errors.{name}", value) for name, value in fields.items()]


def retryable(attempts=b"\0\0\0\4", *, cause=b"a.Thrown", message=b"closed", more=()):
    return [
        ("kafka_original-topic", b"orders"),
        ("kafka_original-partition", struct.pack(">i", 2)),
        ("kafka_original-offset", struct.pack(">q", 17)),
        ("kafka_original-timestamp", struct.pack(">q", 1_795_000_000_000)),
        ("kafka_dlt-original-consumer-group", b"billing"),
        ("retry_topic-attempts", attempts),
        ("kafka_exception-fqcn", b"org.springframework.kafka.listener.ListenerExecutionFailedException"),
        ("kafka_exception-cause-fqcn", cause),
        ("kafka_exception-message", message),
        *more,
    ]


def stream(offset=17, *, message=b"closed", stack=b""):
    text = [("x-exception-message", message)] if message is not None else []
    return [
        ("x-original-topic", b"orders"),
        ("x-original-partition", struct.pack(">i", 2)),
        ("x-original-offset", struct.pack(">q", offset)),
        ("x-original-timestamp", struct.pack(">q", 1_795_000_000_000)),
        ("x-original-timestamp-type", b"CreateTime"),
        ("x-exception-fqcn", WRAPPER),
        *text,
        ("x-exception-stacktrace", WRAPPER + b": m\nCaused by: a.Thrown: closed\n" + stack),
    ]


# Kafka Connect


def test_connect_may_have_an_exception_without_a_message():
    """Case ING-05: the header is there and null."""
    reading = identify(record(connect(exception_message=None)))
    assert (reading.framework, reading.error_message) == ("kafka-connect", None)
    assert reading.error_class == "java.lang.IllegalStateException"


def test_connect_borrows_nothing_from_an_older_failure():
    headers = [*connect(), *connect(offset=b"99", connector=None, exception_message=None)]
    reading = identify(record(headers))
    assert (reading.source_offset, reading.origin_offset) == (99, 17)
    assert reading.error_message is reading.component is reading.consumer_group is None
    assert reading.derived == ("source_timestamp_ms",)


@pytest.mark.parametrize("junk", [b"", b"-1", b"1e3", b"\x00\x00\x00\x07", b"9" * 19, b"9" * 400, None])
def test_connect_numbers_that_are_none_are_unknown(junk):
    assert identify(record(connect(offset=junk))).source_offset is None


def test_connect_identity_is_the_source_record_whose_timestamp_the_dead_letter_keeps():
    first = identify(record(connect()))
    assert first.event_id == "orders/2/17@1796000000000"
    without = identify(record(connect(), timestamp_ms=-1))
    assert without.event_id == "orders/2/17@-1"
    assert without.derived == ("consumer_group",)


# @RetryableTopic


@pytest.mark.parametrize(
    ("raw", "attempts"), [(b"\2", 1), (b"\0\x80", 127), (b"\0\0\0\3", 2), (b"", None), (b"9" * 9, None)]
)
def test_retry_topic_attempts_are_integers_of_any_length(raw, attempts):
    assert identify(record(retryable(raw))).attempts == attempts


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("orders-retry", "retry_pending"),
        ("orders-retry-0", "retry_pending"),
        ("orders-retry-60000", "retry_pending"),
        ("orders-dlt", "dead_letter"),
        ("orders-retry-dlt", "dead_letter"),
        ("orders-parked", "dead_letter"),
    ],
)
def test_on_a_retry_topic_a_record_is_pending(topic, kind):
    assert identify(record(retryable(), topic)).kind == kind


def test_in_2_7_the_last_exception_set_counts():
    later = [
        ("kafka_exception-fqcn", b"org.springframework.kafka.listener.TimestampedException"),
        ("kafka_exception-message", b"second"),
        ("kafka_exception-stacktrace", b"x.Y: second\nCaused by: a.Second: second"),
    ]
    reading = identify(record(retryable(more=later)))
    assert (reading.error_message, reading.error_class) == ("second", "x.Y")


def test_nothing_of_either_spring_family_is_sent_again():
    """Kept, the next failure would go straight to the dead letters (dlq formats, §8.4)."""
    headers = [("tag", b"a"), ("kafka_deliveryAttempt", b"\0\0\0\1"), *retryable(), ("tag", None)]
    assert identify(record(headers)).original_headers == (("tag", b"a"), ("tag", None))


# Spring Cloud Stream


def test_stream_borrows_no_message_from_an_older_failure():
    reading = identify(record([*stream(), *stream(99, message=None)]))
    assert (reading.error_message, reading.source_offset, reading.origin_offset) == (None, 99, 17)
    assert reading.error_class == "a.Thrown"


def test_stream_group_and_attempt_of_the_last_failed_message():
    stack = (
        b"failedMessage=GenericMessage [payload=byte[2], headers={deliveryAttempt=1, kafka_groupId=old}]\n"
        b"failedMessage=GenericMessage [payload=byte[2], headers={deliveryAttempt=3, kafka_groupId=billing}]\n"
    )
    reading = identify(record(stream(stack=stack), "orders-parked"))
    assert (reading.consumer_group, reading.attempts) == ("billing", 3)
    assert reading.derived == ("consumer_group", "attempts")


def test_hand_made_headers_of_the_same_names_are_not_stream():
    headers = [("x-original-topic", b"orders"), ("x-original-partition", b"7"), ("x-exception-message", b"closed")]
    reading = identify(record(headers))
    assert reading.framework != "spring-cloud-stream"
    assert reading.source_partition == 7


# By the topic's name alone


@pytest.mark.parametrize(
    "topic", ["dlq-jdbc-orders", "orders.DLT", "orders_DLQ", "orders-dead-letter", "error.orders.billing"]
)
def test_a_record_that_says_nothing_is_a_dead_letter_on_such_a_topic(topic):
    reading = identify(record([("traceparent", b"00"), ("retries", b"3")], topic))
    assert (reading.framework, reading.kind) == ("unnamed", "dead_letter")
    assert reading.event_id == f"{topic}/3/40@1796000000000"
    assert reading.original_headers == (("traceparent", b"00"), ("retries", b"3"))


@pytest.mark.parametrize("topic", ["orders", "orders-parked", "idler", "adltopic", "orders-retry-1000"])
def test_on_another_topic_it_is_nobody_s(topic):
    assert identify(record([], topic)).framework == UNATTRIBUTED


@pytest.mark.parametrize(
    ("headers", "value"),
    [
        ([("x-error", b"closed")], b"{}"),
        ([("original_topic", b"orders")], b"{}"),
        ([("__streams.errors.exception", b"a.B")], b"{}"),
        ([], b'{"original_topic": "orders", "original_value": "e30="}'),
        ([], b'{"KafkaBatchInfo":{}}'),
    ],
)
def test_what_says_something_is_not_taken_for_the_event(headers, value):
    """Its failure headers or its envelope would be sent to the consumer as if they were the event."""
    assert identify(record(headers, value=value)).framework != "unnamed"


def test_what_seems_to_say_something_in_an_unknown_form_is_not_sent_unasked():
    reading = identify(record([("x-failure-site", b"dc-2")]))
    assert (reading.framework, reading.kind) == ("unnamed", "dead_letter")
    assert "would be sent as well" in reading.not_original
    assert identify(record([("tag", b"a")])).not_original == ""


# After a replay


@pytest.mark.parametrize(
    "failure", [connect(), retryable(), stream(), []], ids=["connect", "retryable", "stream", "none"]
)
def test_a_replayed_event_that_failed_again_is_known_by_what_the_replay_gave_it(failure):
    """Case ING-24: its place is another, but consumers copy the headers that they were given."""
    carried = [(names.EVENT_ID, b"e1"), (names.REPLAY_ID, b"5"), (names.TOKEN, b"1796")]
    reading = identify(record([("tag", b"a"), *carried, *failure]))
    assert (reading.event_id, reading.token) == ("e1", 1796)
    assert reading.original_headers == (("tag", b"a"),)


def test_an_event_that_was_not_replayed_has_no_token():
    assert identify(record([(names.TOKEN, b"1796"), *connect()])).token is None


def test_which_headers_a_failure_may_have_added():
    """The index of search leaves them out. Families of one name, told by headers or by their value, are one."""
    assert added("bakdata", "__streams.errors.description")
    assert added("kafka-connect", "__connect.errors.anything")
    assert added("spring-kafka", "kafka_dlt-original-consumer-group")
    assert added("siding", "siding-version")
    assert not added("kafka-connect", "tag")
    assert not added("unattributed", "__connect.errors.topic")
