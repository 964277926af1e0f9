""".NET's families beyond the samples: other versions, nulls, junk (dlq formats, §4)."""

import gzip

import pytest

from parking.dialects import UNATTRIBUTED, identify
from tests.parking.dialects import sets
from tests.parking.dialects.sets import record

TAG = (("tag", b"a"),)
AT_MS = 1_767_225_660_456


def said(headers, **of_record):
    return identify(record([*TAG, *headers.items()], **of_record))


# KafkaFlow.Retry


def kafkaflow(**more):
    names = {"Attempts-Count": b"2", "Queue-Id": b"q", "Item-Id": b"i", "Sort": b"0", **more}
    return {f"Kafka-Flow-Retry-Durable-{name}": value for name, value in names.items()}


def test_kafkaflow_s_retry_topic_has_the_event_in_gzip():
    reading = said(kafkaflow(), topic="orders-retry", value=gzip.compress(b'{"A":1}', mtime=0))
    assert (reading.framework, reading.kind, reading.attempts) == ("kafkaflow-retry", "retry_pending", 2)
    assert (reading.original_value, reading.original_headers) == (b'{"A":1}', TAG)
    assert reading.not_original


@pytest.mark.parametrize(
    "value", [b"{}", None, b"\x1f\x8b", gzip.compress(b"x", mtime=0)[:-3], gzip.compress(b"x", mtime=0) + b"y"]
)
def test_what_is_no_whole_gzip_stays_as_it_is(value):
    reading = said(kafkaflow(**{"Attempts-Count": None}), value=value)
    assert reading.original_value is reading.attempts is None


# Silverback


@pytest.mark.parametrize(
    ("reason", "error_class"),
    [(b"A.B in C", "A.B"), (b"A.B", "A.B"), (b"A.B`1[C] in D.E", "A.B`1[C]"), (b"", None), (None, None)],
)
def test_silverback_tells_the_innermost_type_and_its_assembly(reason, error_class):
    headers = dict(sets.silverback((), "a"))
    reading = said({**headers, "x-failure-reason": reason})
    assert (reading.error_class, reading.error_message) == (error_class, reason.decode() or None if reason else None)
    assert (reading.consumer_group, reading.attempts) == ("group-a", 3)
    assert reading.source_timestamp_ms == 1_767_225_600_123


def test_silverback_3_0_names_an_endpoint():
    reading = said({"x-failure-reason": b"A.B in C", "x-source-endpoint": b"orders"})
    assert (reading.framework, reading.source_topic, reading.source_offset) == ("silverback", "orders", None)


def test_a_reason_alone_is_not_silverback_s():
    assert said({"x-source-topic": b"orders"}).framework != "silverback"
    assert said({"x-failure-reason": b"orders"}).framework != "silverback"


# Wolverine

TIERS = {
    "wolverine-kafka-retry-source": b"orders",
    "wolverine-kafka-retry-tier": b"1",
    "wolverine-kafka-retry-attempt": b"3",
    "wolverine-kafka-retry-first-failed": b"639028224604560000",
    "wolverine-kafka-retry-exception-type": b"System.TimeoutException",
    "wolverine-kafka-retry-exception-message": b"gateway",
}


@pytest.mark.parametrize(
    ("topic", "kind", "attempts"),
    [
        ("orders.retry.30s", "retry_pending", 2),
        ("orders.retry.5m", "retry_pending", 2),
        ("orders.retry.1h", "retry_pending", 2),
        ("wolverine-dead-letter-queue", "dead_letter", 3),
    ],
)
def test_wolverine_s_tiers_count_the_next_attempt(topic, kind, attempts):
    reading = said({**TIERS, "attempts": b"1"}, topic=topic)
    assert (reading.framework, reading.kind, reading.attempts) == ("wolverine", kind, attempts)
    assert (reading.error_class, reading.error_message) == ("System.TimeoutException", "gateway")
    assert (reading.source_topic, reading.source_offset) == ("orders", None)
    assert reading.first_failed_at_ms == AT_MS
    assert reading.original_headers == TAG


def test_before_6_21_wolverine_named_no_source():
    headers = {name: value for name, value in sets.wolverine((), "a") if not name.startswith("original-")}
    reading = said(headers)
    assert (reading.framework, reading.source_topic, reading.attempts) == ("wolverine", None, 3)
    assert (reading.error_class, reading.error_class_outer) == ("a.a", "a.a")


@pytest.mark.parametrize("ticks", [b"0", b"-1", b"", None, b"62135596800000000", b"9" * 30])
def test_ticks_that_are_no_time_are_unknown(ticks):
    assert said({**TIERS, "wolverine-kafka-retry-first-failed": ticks}).first_failed_at_ms is None


def test_made_up_names_that_look_like_wolverine_s_are_not_its_own():
    headers = {"exception-type": b"A.B", "failed-at": b"2026-01-01T00:01:00.456Z", "original-topic": b"orders"}
    reading = said({**headers, "original-offset": b"7"})
    assert (reading.framework, reading.source_topic, reading.source_offset) == ("hand-rolled", "orders", 7)
    assert reading.failed_at_ms == AT_MS


def test_a_type_of_an_exception_alone_is_not_wolverine_s():
    assert said({"exception-type": b"A.B"}).framework != "wolverine"


# Brighter


def test_brighter_has_the_name_of_an_enum_for_a_class():
    headers = {
        "Topic": b"orders.dlq",
        "HandledCount": b"3",
        "OriginalTopic": b"orders",
        "RejectionTimestamp": b"2026-01-01T00:01:00.4560000+00:00",
        "OriginalType": b"MT_EVENT",
        "RejectionReason": b"Unacceptable",
        "RejectionMessage": None,
    }
    reading = said(headers)
    assert (reading.error_class, reading.error_message, reading.attempts) == ("Unacceptable", None, 3)
    assert (reading.source_topic, reading.source_partition, reading.failed_at_ms) == ("orders", None, AT_MS)
    assert reading.original_headers == (*TAG, ("Topic", b"orders.dlq"))
    assert said({**headers, "RejectionTimestamp": b"yesterday"}).failed_at_ms is None


# Rebus


@pytest.mark.parametrize(
    ("details", "error_class"),
    [
        (b"5 unhandled exceptions: 01/01/2026 00:01:00 +00:00: System.InvalidOperationException: Ledger closed", True),
        (b"System.InvalidOperationException: Ledger closed\n   at A.B()", True),
        (b"Ledger closed by Billing.Ledger: exceptions", False),
        (b"", False),
        (b"\xff\xfe", False),
    ],
)
def test_the_class_in_rebus_s_text(details, error_class):
    reading = said({"rbs2-error-details": details, "rbs2-source-queue": b"billing", "rbs2-delivery-count": b"5"})
    assert reading.error_class == ("System.InvalidOperationException" if error_class else None)
    assert (reading.framework, reading.source_topic, reading.attempts) == ("rebus", "billing", 5)
    assert reading.original_headers == TAG


# CAP


@pytest.mark.parametrize(
    ("told", "error_class"),
    [(b"InvalidOperationException-->closed", "InvalidOperationException"), (b"closed", None), (b"-->x", None)],
)
def test_cap_puts_class_and_message_into_one_header(told, error_class):
    reading = said({"cap-exception": told, "cap-msg-id": b"1"})
    assert (reading.framework, reading.error_class, reading.error_message) == ("cap", error_class, told.decode())
    assert reading.original_headers == (*TAG, ("cap-msg-id", b"1"))


# MassTransit


def test_masstransit_writes_other_types_as_json_and_its_first_header_counts():
    headers = [
        ("MT-Reason", b"fault"),
        ("MT-Fault-ExceptionType", b"A.B"),
        ("MT-Fault-ExceptionType", b"A.C"),
        ("MT-Fault-Message", b'"quoted"'),
        ("MT-Fault-Timestamp", b'"2026-01-01T00:01:00.4560000Z"'),
        ("MT-Fault-RetryCount", b'"2"'),
        ("MT-Fault-InputAddress", b'"rabbitmq://host/kafka/orders?type=fanout"'),
        ("MT-Redelivery-Count", b"1"),
    ]
    reading = identify(record([*TAG, *headers]))
    assert (reading.error_class, reading.error_message) == ("A.B", '"quoted"')
    assert (reading.failed_at_ms, reading.attempts, reading.source_topic) == (AT_MS, 3, "orders")
    assert reading.original_headers == TAG


def test_masstransit_may_give_a_reason_only():
    reading = said({"MT-Reason": b"dead-letter"})
    assert (reading.framework, reading.kind) == ("masstransit", "dead_letter")
    assert reading.error_class is reading.attempts is reading.source_topic is None


# NServiceBus


def test_nservicebus_s_rounds_are_no_attempts():
    headers = {
        "NServiceBus.MessageId": b"1",
        "NServiceBus.FailedQ": b"Billing",
        "NServiceBus.Retries": b"2",
        "NServiceBus.ExceptionInfo.ExceptionType": b"A.B",
        "NServiceBus.ExceptionInfo.Data.Order": b"7",
        "NServiceBus.TimeOfFailure": b"2026-01-01 00:01:00:456000 Z",
    }
    reading = said(headers)
    assert (reading.framework, reading.source_topic, reading.attempts) == ("nservicebus", "Billing", None)
    assert (reading.failed_at_ms, reading.error_class) == (AT_MS, "A.B")
    assert reading.original_headers == (*TAG, ("NServiceBus.MessageId", b"1"))


def test_headers_of_a_message_that_did_not_fail_are_no_failure():
    healthy = {"NServiceBus.MessageId": b"1", "rbs2-msg-id": b"2", "MT-Redelivery-Count": b"1", "HandledCount": b"0"}
    assert said(healthy, topic="orders").framework == UNATTRIBUTED
