"""Text headers of Go, Ruby, Node, PHP, Python and platforms: what the samples do not show (dlq formats, §5)."""

import base64
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import identify
from parking.dialects.table import FAMILIES
from parking.record import Record


def record(headers, topic="parked", *, key=b"k", value=b"{}", timestamp_ms=1_796_000_000_000):
    listed = headers.items() if isinstance(headers, dict) else headers
    return Record(topic, 3, 40, timestamp_ms, key, value, tuple(listed))


# Karafka

KARAFKA = {
    "source_topic": b"orders",
    "source_partition": b"7",
    "source_offset": b"17",
    "source_consumer_group": b"billing",
    "source_attempts": b"3",
}
KARAFKA_2_4 = {
    "original_topic": b"orders",
    "original_partition": b"7",
    "original_offset": b"17",
    "original_consumer_group": b"billing",
    "original_key": b"A-1",
    "original_attempts": b"2",
}


def test_karafka_2_4_kept_the_key_that_it_overwrote():
    given = record(KARAFKA_2_4, key=b"7")
    reading = identify(given)
    assert (reading.framework, reading.attempts, reading.consumer_group) == ("karafka", 2, "billing")
    assert (reading.original_key, reading.content(given)) == (b"A-1", (b"A-1", b"{}"))
    assert (reading.source_partition, reading.source_offset, reading.not_original) == (7, 17, "")


def test_karafka_2_4_had_no_key_to_keep():
    given = record({**KARAFKA_2_4, "original_key": b""}, key=b"7")
    assert identify(given).content(given) == (None, b"{}")


def test_before_karafka_2_4_the_key_is_lost_and_that_is_said():
    without = {name: value for name, value in KARAFKA_2_4.items() if name not in ("original_key", "original_attempts")}
    reading = identify(record(without, key=b"7"))
    assert (reading.framework, reading.attempts) == ("karafka", None)
    assert "replaced the key" in reading.not_original


def test_before_karafka_2_0_17_the_names_had_dashes():
    headers = {name.replace("_", "-"): value for name, value in KARAFKA_2_4.items() if not name.endswith("attempts")}
    reading = identify(record(headers, key=b"7"))
    assert (reading.framework, reading.source_topic, reading.consumer_group) == ("karafka", "orders", "billing")


@pytest.mark.parametrize(("topic", "kind"), [("orders-copy", "unknown"), ("orders-dlq", "dead_letter")])
def test_karafka_pipes_healthy_records_with_the_same_headers(topic, kind):
    piped = {name: value for name, value in KARAFKA.items() if name != "source_attempts"}
    assert identify(record(piped, topic)).kind == kind
    assert identify(record(KARAFKA, topic)).kind == "dead_letter"


def test_a_user_may_add_what_karafka_does_not_say():
    reading = identify(record({**KARAFKA, "error_class": b"Ledger::Closed", "error_message": b"closed"}))
    assert (reading.error_class, reading.error_message) == ("Ledger::Closed", "closed")


# Dapr, Watermill, Bento


def test_dapr_names_are_read_wherever_they_stand_and_not_sent_again():
    headers = [("__offset", b"5"), ("tag", b"a"), ("__topic", b"orders"), ("__partition", b"x"), ("pubsubName", b"p")]
    reading = identify(record(headers))
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", None, 5)
    assert reading.position_may_be_earlier_pass is True
    assert reading.original_headers == (("tag", b"a"),)


@pytest.mark.parametrize(
    ("reason", "message", "stacktrace"),
    [
        (b"closed", "closed", None),
        (b"", None, None),
        (None, None, None),
        (
            b'panic occurred: "x", stacktrace: \ngoroutine 1 [running]:\n',
            'panic occurred: "x"',
            "goroutine 1 [running]:\n",
        ),
        (b"no panic, stacktrace: a", "no panic, stacktrace: a", None),
        (b"panic occurred: closed", "panic occurred: closed", None),
    ],
)
def test_watermill_reasons(reason, message, stacktrace):
    reading = identify(record({"reason_poisoned": reason, "topic_poisoned": b"", "handler_poisoned": b"h"}))
    assert (reading.framework, reading.component, reading.source_topic) == ("watermill", "h", None)
    assert (reading.error_message, reading.stacktrace) == (message, stacktrace)


def test_watermill_may_have_dropped_the_key():
    headers = {"reason_poisoned": b"x", "topic_poisoned": b"orders"}
    assert "key" in identify(record(headers, key=None)).not_original
    assert identify(record(headers)).not_original == ""


BENTO = {"kafka_topic": b"orders", "kafka_partition": b"1", "kafka_offset": b"3", "kafka_timestamp_unix": b"1790000000"}


@pytest.mark.parametrize(
    ("more", "topic", "kind", "message"),
    [
        ({}, "orders-copy", "unknown", None),
        ({}, "orders.dlq", "dead_letter", None),
        ({"fallback_error": b"no"}, "orders-copy", "dead_letter", "no"),
        ({"dlq_reason": b"why"}, "orders-copy", "dead_letter", "why"),
        ({"my_error": b"hm"}, "orders-copy", "unknown", None),
        ({"fallback_error": b""}, "orders-copy", "unknown", None),
    ],
)
def test_bento_writes_its_metadata_on_healthy_records_too(more, topic, kind, message):
    reading = identify(record({**BENTO, **more}, topic))
    assert (reading.framework, reading.kind, reading.error_message) == ("bento", kind, message)
    assert (reading.source_topic, reading.source_timestamp_ms) == ("orders", 1_790_000_000_000)


def test_bento_writes_a_tombstone_as_an_empty_value():
    given = record({**BENTO, "kafka_tombstone_message": b"true", "fallback_error": b"no"}, value=b"")
    assert identify(given).content(given) == (b"k", None)


def test_a_processor_may_have_changed_what_bento_caught():
    assert identify(record({**BENTO, "dlq_reason": b"why"})).not_original
    assert not identify(record({**BENTO, "fallback_error": b"why"})).not_original


# Trendyol, retriable-kafka-client, arroyo, hexkit, laravel-kafka


@pytest.mark.parametrize(
    ("names", "attempts"),
    [
        (("x-error-message", "x-retry-count", "x-produce-time"), 4),
        (("x-retry-count", "x-produce-time", "x-error-message"), 3),
        (("x-retry-count", "x-produce-time"), 3),
    ],
)
def test_trendyol_order_tells_who_counts(names, attempts):
    values = {"x-error-message": b"503", "x-retry-count": b"3", "x-produce-time": b"1796045288000533219"}
    reading = identify(record([(name, values[name]) for name in names]))
    assert (reading.framework, reading.attempts, reading.failed_at_ms) == ("trendyol", attempts, 1_796_045_288_000)


@pytest.mark.parametrize("junk", [b"", b"-1", b"x", None, b"9" * 30])
def test_trendyol_numbers_that_are_none_are_unknown(junk):
    reading = identify(record({"x-retry-count": junk, "x-produce-time": junk}))
    assert (reading.framework, reading.attempts, reading.failed_at_ms) == ("trendyol", None, None)


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("a.retry", "retry_pending"),
        ("stockretry", "retry_pending"),
        ("a.exception", "retry_pending"),
        ("a.error", "dead_letter"),
    ],
)
def test_trendyol_topics(topic, kind):
    assert identify(record({"x-retry-count": b"1", "x-produce-time": b"1"}, topic)).kind == kind


def test_a_first_konsumer_retry_has_an_error_only():
    reading = identify(record({"x-error-message": b"503"}, "stock.retry"))
    assert (reading.kind, reading.error_message, reading.attempts) == ("retry_pending", "503", None)


@pytest.mark.parametrize(
    ("raw", "attempts"), [(struct.pack(">q", 2), 2), (b"2", None), (b"\0\0\0\2", None), (None, None)]
)
def test_retriable_attempts_are_of_eight_bytes(raw, attempts):
    headers = {"retriable_kafka_attempt": raw, "retriable_kafka_timestamp": struct.pack(">q", 1_796_044_950)}
    reading = identify(record(headers, "jobs.retry"))
    assert (reading.kind, reading.attempts, reading.due_at_ms) == ("retry_pending", attempts, 1_796_044_950_000)
    assert "key" in reading.not_original


def test_arroyo_appends():
    first = [("original_partition", b"2"), ("original_offset", b"3")]
    reading = identify(record([*first, ("original_partition", b"0"), ("original_offset", b"9")]))
    assert (reading.source_partition, reading.source_offset) == (0, 9)
    assert (reading.origin_topic, reading.origin_partition, reading.origin_offset) == (None, 2, 3)
    assert reading.event_id == "parked/3/40@1796000000000"  # without a topic it is no place


def test_hexkit_says_that_the_value_is_not_the_original():
    headers = {"exc_class": b"ValueError", "exc_msg": b"no", "original_topic": b"orders", "service": b"billing"}
    reading = identify(record(headers))
    assert (reading.framework, reading.consumer_group, reading.component) == ("hexkit", "billing", "billing")
    assert reading.not_original


def test_laravel_without_a_message():
    reading = identify(record({"kafka_throwable_class_name": b"App\\Closed", "kafka_throwable_message": b""}))
    assert (reading.framework, reading.error_class, reading.error_message) == ("laravel-kafka", "App\\Closed", None)


# kafkajs-async-retry, moleculer, Symfony


def told(**members):
    return {"asyncRetry": json.dumps({"ttl": 1_796_044_030_788, "top": "orders", "att": 2, **members}).encode()}


@pytest.mark.parametrize(
    ("topic", "kind", "group", "attempts"),
    [
        ("billing-retry-2", "retry_pending", "billing", 2),
        ("billing-retry-30s", "retry_pending", "billing", 2),
        ("a-dlq-dlq", "dead_letter", "a-dlq", 3),
        ("parked", "dead_letter", None, 3),
    ],
)
def test_async_retry_topics_name_the_group(topic, kind, group, attempts):
    reading = identify(record(told(), topic))
    assert (reading.kind, reading.consumer_group, reading.attempts) == (kind, group, attempts)
    assert reading.due_at_ms == (1_796_044_030_788 if kind == "retry_pending" else None)


@pytest.mark.parametrize("header", [b"", b"null", b"[]", b"{", b'{"top": 7, "att": "x"}', b"\xff", None, b'{"att":-1}'])
def test_async_retry_junk_is_unknown(header):
    reading = identify(record({"asyncRetry": header}, "billing-dlq"))
    assert (reading.framework, reading.source_topic, reading.attempts) == ("kafkajs-async-retry", None, None)


def test_moleculer_before_0_3_leaves_the_error_to_others():
    headers = {"x-original-channel": b"orders", "x-original-group": b"g", "x-original-partition": b"2"}
    reading = identify(record({**headers, "dlq_reason": b"why"}, "FAILED_MESSAGES"))
    assert (reading.framework, reading.attempts, reading.source_partition) == ("moleculer-channels", 1, 2)
    assert reading.error_message == "why"


def test_moleculer_stacks_are_base64_or_text():
    stack = "RangeError: no\n    at f (/srv/a.js:1:2)"
    headers = {"x-original-channel": b"orders", "x-error-name": b"RangeError", "x-error-message": b"no"}
    for raw in (base64.b64encode(stack.encode()), stack.encode()):
        reading = identify(record({**headers, "x-error-stack": raw}))
        assert (reading.stacktrace, reading.root_cause, reading.root_cause_from_stack) == (stack, "RangeError", None)


STAMP = "X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\"


def test_the_last_stamp_of_symfony_counts_and_all_are_left_out_of_a_replay():
    headers = {
        f"{STAMP}BusNameStamp": b'[{"busName":"messenger.bus.default"}]',
        f"{STAMP}ErrorDetailsStamp": json.dumps(
            [{"exceptionClass": "A", "exceptionMessage": "a"}, {"exceptionClass": "B", "exceptionMessage": "b"}]
        ).encode(),
        f"{STAMP}RedeliveryStamp": b'[{"retryCount":0},{"retryCount":1,"redeliveredAt":"2026-01-01T00:01:00+00:00"}]',
    }
    reading = identify(record(headers, "messenger_failed"))
    assert (reading.error_class, reading.error_message, reading.attempts) == ("B", "b", 2)
    assert reading.failed_at_ms == 1_767_225_660_000
    assert [name for name, _ in reading.original_headers] == [f"{STAMP}BusNameStamp"]


def test_a_healthy_message_of_symfony_is_no_failure():
    assert identify(record({f"{STAMP}BusNameStamp": b"[]"}, "orders")).kind == "unknown"


# Knative


def test_knative_answers_may_be_cut():
    answer = base64.b64encode(b"ledger closed, call again").decode()
    for encoded, message in (
        (answer, "ledger closed, call again"),
        (answer[:-3], "ledger closed, call a"),
        ("%%", "%%"),
    ):
        reading = identify(record({"ce_knativeerrordata": encoded.encode(), "ce_knativeerrorcode": b"500"}))
        assert reading.framework == "knative"
        assert (reading.error_class, (reading.error_message or "")[:19]) == ("HTTP 500", message[:19])


# All of them

NAMES = sorted({name.replace("*", "x") for family in FAMILIES for name in (*family.headers, *family.also)})
VALUES = st.one_of(
    st.none(),
    st.binary(max_size=20),
    st.integers(-2, 2**70).map(lambda n: str(n).encode()),
    st.sampled_from(
        [b"", b"[]", b"{}", b'[{"a":1}]', b'{"top":{}}', b"-1", b"\xff\xfe", b"true", struct.pack("<q", 9)]
    ),
)
TOPICS = st.sampled_from(
    ["orders", "orders-dlq", "orders-retry-1", "a__dlq", "a__retry", "x_retry_100", "FAILED_MESSAGES", ""]
)


@given(
    st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), st.text(max_size=30)), VALUES), max_size=25),
    TOPICS,
    st.one_of(st.none(), st.binary(max_size=40)),
    st.one_of(st.none(), st.binary(max_size=40)),
)
def test_no_headers_raise_and_nothing_of_the_event_is_lost(headers, topic, key, value):
    given_ = record(headers, topic, key=key, value=value)
    reading = identify(given_)
    assert set(reading.original_headers) <= set(given_.headers)
    assert json.dumps(reading.shown())
    for number in (reading.source_partition, reading.source_offset, reading.attempts, reading.failed_at_ms):
        assert number is None or number >= 0
