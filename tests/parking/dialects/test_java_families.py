"""Java's families beyond the samples: other versions, nulls, wrong lengths (dlq formats, §3)."""

import base64
import json

import pytest

from parking.dialects import UNATTRIBUTED, identify
from parking.record import Headers
from tests.parking.dialects import sets
from tests.parking.dialects.sets import decimal, int32, int64, record

RAW = b'{"orderId":'


def _replaced(headers, name, value):
    """With another value under that name; without it where that is `...`."""
    return tuple(
        (header, value if header == name else given) for header, given in headers if header != name or value is not ...
    )


# Spring


@pytest.mark.parametrize("junk", [None, b"", b"7", b"\0\0\0", b"\0" * 5, b"\xff\xff\xff\xff"])
def test_a_partition_of_another_length_is_unknown(junk):
    headers = _replaced(sets.spring((), "a"), "kafka_dlt-original-partition", junk)
    reading = identify(record(headers))
    assert (reading.source_topic, reading.source_partition) == ("a", None)
    assert reading.source_offset == sets.number("a")


@pytest.mark.parametrize("attempt", [None, b"3", b"\0\0\0\0\0\0\0\3"])
def test_attempts_of_another_length_are_unknown(attempt):
    headers = (("kafka_deliveryAttempt", attempt), *sets.spring((), "a"))
    assert identify(record(headers)).attempts is None


def test_the_last_exception_set_of_2_7_counts():
    """Before 2.8 nothing was stripped, and there was neither a cause nor a group."""
    first, second = (
        tuple(
            header
            for header in sets.spring((), mark)
            if header[0] not in ("kafka_dlt-exception-cause-fqcn", "kafka_dlt-original-consumer-group")
        )
        for mark in "ab"
    )
    reading = identify(record((*first, *second), "orders.DLT"))
    assert (reading.error_class, reading.error_message, reading.consumer_group) == ("a.b", "closed b", None)
    assert (reading.source_topic, reading.origin_topic) == ("b", "a")


def test_a_key_that_could_not_be_deserialized():
    exception = (
        ("kafka_dlt-key-exception-fqcn", b"org.springframework.kafka.support.serializer.DeserializationException"),
        ("kafka_dlt-exception-cause-fqcn", b"a.Key"),
        ("kafka_dlt-key-exception-message", b"failed to deserialize"),
        ("kafka_dlt-key-exception-stacktrace", b"x.Y: failed\nCaused by: a.Key: bad key\n"),
    )
    position = tuple(header for header in sets.spring((), "a") if "original" in header[0])
    reading = identify(record((*exception, *position)))
    assert (reading.error_class, reading.error_message) == ("a.Key", "failed to deserialize")
    assert reading.root_cause_from_stack == "a.Key"
    both = identify(record((*exception, *sets.spring((), "b"))))
    assert (both.error_class, both.error_message) == ("a.b", "closed b")


def test_a_set_without_its_topic_still_tells_the_newest_position():
    headers = (("kafka_dlt-original-offset", int64(4)), ("kafka_dlt-original-offset", int64(9)))
    reading = identify(record(headers))
    assert (reading.framework, reading.source_topic, reading.source_offset) == ("spring-kafka", None, 9)


def test_only_a_group_is_no_failure():
    """Both families write it, and neither is told by it."""
    reading = identify(record([("kafka_dlt-original-consumer-group", b"billing")], "orders"))
    assert reading.framework == UNATTRIBUTED


def test_only_wrappers_are_no_class():
    headers = (("kafka_dlt-exception-fqcn", sets.LISTENER), ("kafka_dlt-exception-cause-fqcn", sets.MESSAGING))
    reading = identify(record(headers))
    assert (reading.error_class, reading.error_class_outer) == (None, sets.LISTENER.decode())


def test_suppressed_causes_do_not_count():
    stack = (
        b"a.Outer: x\r\n\tat a.B.c(B.java:1)\r\n\tSuppressed: a.Suppressed: y\r\n\tCaused by: a.Of$Suppressed: z\r\n"
        b"Caused by: a.Inner$Of: y\r\n\t... 3 more\r\n"
    )
    headers = _replaced(sets.spring((), "a"), "kafka_dlt-exception-stacktrace", stack)
    assert identify(record(headers)).root_cause_from_stack == "a.Inner$Of"


def test_a_cause_of_no_package_is_one():
    headers = _replaced(
        sets.spring((), "a"), "kafka_dlt-exception-stacktrace", b"Boom: x\n\tat B.c(B.java:1)\nCaused by: Bang: y\n"
    )
    assert identify(record(headers)).root_cause_from_stack == "Bang"


def _wrapped(value, times=1):
    for _ in range(times):
        value = json.dumps(base64.b64encode(value).decode()).encode()
    return value


def _rewritten(passes, wrapped, more=(("__TypeId__", b"[B"),)):
    headers: Headers = ()
    for mark in "abc"[:passes]:
        headers = sets.spring(headers, mark)
    return identify(record((("tag", b"a"), *headers, *more), key=b'"A-1"', value=_wrapped(RAW, wrapped)))


def test_base64_in_json_is_unwrapped_once_for_each_pass():
    once, twice = _rewritten(1, 1), _rewritten(2, 2)
    assert (once.original_key, once.original_value) == (b"A-1", RAW)
    assert twice.original_value == RAW
    assert _rewritten(1, 2).original_value == _wrapped(RAW, 1)


def test_the_type_of_the_base64_text_is_not_sent_with_the_bytes():
    assert _rewritten(1, 1).original_headers == (("tag", b"a"),)
    assert _rewritten(1, 0).original_headers == (("tag", b"a"), ("__TypeId__", b"[B"))


@pytest.mark.parametrize("type_id", [b"java.lang.String", b"com.example.Order", None])
def test_a_json_text_of_another_type_is_the_payload(type_id):
    reading = _rewritten(1, 1, (("__TypeId__", type_id),))
    assert reading.original_value is None


def test_a_type_behind_the_failure_is_the_trace_of_a_value_written_anew():
    assert "anew" in _rewritten(1, 0, (("__TypeId__", b"com.example.Order"),)).not_original
    before = (("__TypeId__", b"com.example.Order"), *sets.spring((), "a"))
    assert identify(record(before)).not_original == ""


def test_nothing_serialized_by_java_is_opened():
    headers = (("springDeserializerExceptionValue", b"\xac\xed\0\5sr"), *sets.spring((("tag", b"a"),), "a"))
    reading = identify(record(headers))
    assert reading.original_headers == (("tag", b"a"),)


# Kafka Streams and bakdata


@pytest.mark.parametrize("exception", [b"a.B: boom: x", b"a.B"])
def test_an_early_build_s_exception_is_class_and_message(exception):
    headers = _replaced(sets.streams((), "a"), "__streams.errors.exception", exception)
    reading = identify(record(headers))
    assert (reading.error_class, reading.error_class_outer) == ("a.B", "a.B")


def test_a_stream_s_failure_borrows_no_message_from_an_older_one():
    newer = _replaced(sets.streams((), "b"), "__streams.errors.message", None)
    reading = identify(record((*sets.streams((), "a"), *newer)))
    assert (reading.error_message, reading.source_topic, reading.origin_topic) == (None, "b", "a")


def test_the_time_of_a_stream_s_record_is_that_of_the_source():
    reading = identify(record(sets.streams((), "a")))
    assert (reading.source_timestamp_ms, reading.derived) == (1_796_000_000_000, ("source_timestamp_ms",))
    assert reading.event_id == f"a/2/{sets.number('a')}@1796000000000"
    without = identify(record(sets.bakdata((), "a"), timestamp_ms=-1))
    assert (without.source_timestamp_ms, without.derived) == (None, ())


def test_bakdata_s_position_may_be_unknown():
    headers = sets.bakdata((), "a")
    for name in ("topic", "partition", "offset"):
        headers = _replaced(headers, f"__streams.errors.{name}", None)
    reading = identify(record(headers))
    assert (reading.framework, reading.source_topic, reading.component) == ("bakdata", None, "booking")


# Share groups


@pytest.mark.parametrize(
    ("key", "value", "missing"), [(None, None, True), (b"k", None, False), (None, b"v", False), (b"k", b"v", False)]
)
def test_a_copied_tombstone_is_no_pointer(key, value, missing):
    reading = identify(record(sets.share((), "a"), "dlq.orders", key=key, value=value))
    assert reading.payload_missing is missing


def test_the_draft_s_names_have_one_underscore():
    headers = tuple((name.removeprefix("_"), value) for name, value in sets.share((), "a"))
    reading = identify(record(headers, "dlq.orders"))
    assert (reading.framework, reading.consumer_group, reading.attempts) == ("share-group", "group-a", 3)
    assert (reading.source_topic, reading.source_offset) == ("a", sets.number("a"))
    assert reading.original_headers == ()


def test_count_and_message_of_a_share_group_are_optional():
    kept = ("topic", "partition", "offset", "group")
    headers = [header for header in sets.share((), "a") if header[0].endswith(kept)]
    reading = identify(record(headers))
    assert (reading.attempts, reading.error_message) == (None, None)
    assert reading.consumer_group == "group-a"


# SmallRye


def test_smallrye_before_3_21_names_no_class():
    headers = [header for header in sets.smallrye((), "a") if not header[0].endswith("class-name")]
    reading = identify(record(headers))
    assert reading.error_class is reading.error_class_outer is None
    assert reading.error_message == "closed a"


def test_smallrye_borrows_no_cause_from_an_older_failure():
    newest = [header for header in sets.smallrye((), "b") if "cause" not in header[0]]
    reading = identify(record([*newest, *sets.smallrye((), "a")]))
    assert (reading.error_class, reading.source_topic, reading.origin_topic) == (None, "b", "a")
    no_offset = [header for header in newest if not header[0].endswith("offset")]
    assert identify(record([*no_offset, *sets.smallrye((), "a")])).source_offset is None


@pytest.mark.parametrize(
    ("topic", "component"), [("dead-letter-topic-orders-in", "channel orders-in"), ("orders-dead", None)]
)
def test_the_channel_is_in_the_name_of_the_default_topic(topic, component):
    assert identify(record(sets.smallrye((), "a"), topic)).component == component


def test_what_could_not_be_deserialized_is_the_event():
    raw = (
        ("deserialization-failure-topic", b"a"),
        ("deserialization-failure-value-data", RAW),
        ("deserialization-failure-data", RAW),
    )
    failed = _replaced(
        sets.smallrye((), "a"),
        "dead-letter-exception-class-name",
        b"org.apache.kafka.common.errors.RecordDeserializationException",
    )
    headers = (*failed, *raw, ("tag", b"a"))
    same, other = identify(record(headers, value=RAW)), identify(record(headers, value=None))
    assert (same.original_value, other.original_value) == (None, RAW)
    assert same.not_original == other.not_original == ""
    assert same.original_headers == other.original_headers == (("tag", b"a"),)


def test_bytes_of_an_older_failure_are_not_the_event():
    """Somebody mended the value and sent it again with all headers; it failed with another exception."""
    older = (("deserialization-failure-value-data", RAW),)
    reading = identify(record((*sets.smallrye((), "b"), *older), value=b"{}"))
    assert reading.original_value is None


def test_smallrye_writes_other_values_anew():
    assert "anew" in identify(record(sets.smallrye((), "a"))).not_original


@pytest.mark.parametrize(
    ("topic", "kind"),
    [("orders_retry_600", "retry_pending"), ("orders-dlq", "dead_letter"), ("retry_600_x", "dead_letter")],
)
def test_a_delayed_retry_is_pending_on_its_topics(topic, kind):
    reading = identify(record(sets.delayed((), "a"), topic))
    assert (reading.kind, reading.attempts) == (kind, 2)
    assert (reading.source_timestamp_ms, reading.first_failed_at_ms) == (sets.TIMESTAMP, sets.TIMESTAMP + 50)


def test_a_retry_count_that_is_none_is_unknown():
    headers = _replaced(sets.delayed((), "a"), "delayed-retry-count", b"x")
    assert identify(record(headers, "orders_retry_600")).attempts is None


def test_the_origin_of_delayed_retries_is_the_last_set():
    headers = sets.delayed(sets.delayed(sets.delayed((), "a"), "b"), "c")
    reading = identify(record(headers, "orders_retry_600"))
    assert (reading.source_topic, reading.origin_topic, reading.origin_offset) == ("c", "a", sets.number("a"))


def test_of_smallrye_s_two_families_the_first_counts():
    reading = identify(record(sets.smallrye(sets.delayed((), "a"), "b"), "dead-letter-topic-orders"))
    assert (reading.framework, reading.source_topic, reading.origin_topic) == ("smallrye", "b", "a")


# Helidon


def test_helidon_s_newer_api_tells_channel_and_attempts():
    headers = (
        ("helidon_messaging_dead_letter_source_channel", b"orders"),
        ("helidon_messaging_dead_letter_attempts", b"4"),
        ("dlq-orig-topic", b"orders"),
        ("dlq-orig-partition", b"0"),
        ("dlq-orig-offset", b"7"),
        ("dlq-orig-timestamp", b"1795000000000"),
        ("dlq-orig-timestamp-type", b"CREATE_TIME"),
        ("dlq-orig-leader-epoch", b"1"),
    )
    reading = identify(record((("tag", b"a"), *headers)))
    assert (reading.framework, reading.component, reading.attempts) == ("helidon", "channel orders", 4)
    assert (reading.source_partition, reading.source_offset, reading.source_timestamp_ms) == (0, 7, 1_795_000_000_000)
    assert reading.error_class is reading.error_message is None
    assert reading.original_headers == (("tag", b"a"),)


def test_helidon_borrows_no_class_from_an_older_failure():
    newer = [header for header in sets.helidon((), "b") if not header[0].startswith("dlq-error")]
    reading = identify(record([*sets.helidon((), "a"), *newer]))
    assert (reading.error_class, reading.source_topic, reading.origin_topic) == (None, "b", "a")


# Confluent


@pytest.mark.parametrize(("mode", "never_was"), [(b"WRITE", True), (b"READ", False), (b"UPGRADE", False)])
def test_a_rule_on_write_kept_the_event_from_its_topic(mode, never_was):
    headers = _replaced(sets.rule((("tag", b"a"),), "a"), "__rule.mode", mode)
    reading = identify(record(headers))
    assert (reading.stage, reading.component) == (mode.decode(), "rule positive subject a-value")
    assert bool(reading.not_original) is never_was
    assert reading.original_headers == (("tag", b"a"),)


def test_a_rule_may_fail_without_an_exception():
    headers = [header for header in sets.rule((), "a") if header[0] != "__rule.exception"]
    assert identify(record(headers)).error_message is None


def reporter(**more):
    fields = {
        "input_record_offset": b"17",
        "input_record_timestamp": b"1795000000000",
        "input_record_partition": b"2",
        "input_record_topic": b"orders",
        "error_message": b"null",
        "exception": b"null",
        "status_code": b"500",
        **more,
    }
    return list(fields.items())


@pytest.mark.parametrize(
    ("said", "value", "message"),
    [
        (b"null", b'"Retry time lapsed"', "Retry time lapsed"),
        (b"null", b"Retry time lapsed", "Retry time lapsed"),
        (b"null", b'"broken', '"broken'),
        (b"null", None, None),
        (b"server closed", b'"Retry time lapsed"', "server closed"),
    ],
)
def test_the_error_of_a_reporter_is_a_header_or_else_the_value(said, value, message):
    reading = identify(record(reporter(error_message=said), "error-responses", value=value))
    assert (reading.kind, reading.error_message) == ("dead_letter", message)
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 2, 17)
    assert reading.not_original


def test_the_topic_of_successes_looks_alike():
    reading = identify(record(reporter(), "success-responses", value=b'"created"'))
    assert (reading.kind, reading.error_message) == ("unknown", None)


# Avro whose schema is known


def _long(value):
    value = value << 1 if value >= 0 else (-value << 1) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _text(value):
    data = value.encode() if isinstance(value, str) else value
    return _long(len(data)) + data


def _maybe(value):
    if value is None:
        return _long(0)
    return _long(1) + (_long(value) if isinstance(value, int) else _text(value))


STACK = "java.lang.IllegalStateException: closed\n\tat a.B.c(B.java:9)\n"


def kstreamplify(*, byte_value=None, text="{}", topic="orders", offset=17, more=()):
    first = [_maybe("closed"), _maybe("context"), _maybe(STACK), _maybe(text), _maybe(byte_value), _long(offset)]
    return b"\0\0\0\0\x07" + b"".join([*first, _long(2), _text(topic), _maybe("orders-app"), *map(_maybe, more)])


@pytest.mark.parametrize("more", [(), ("node", "0_2"), ("node", "0_2", None, b"raw")])
def test_kstreamplify_of_three_versions(more):
    reading = identify(record([], "app-dlq", value=kstreamplify(more=more)))
    assert (reading.framework, reading.component) == ("kstreamplify", "orders-app")
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 2, 17)
    assert (reading.error_message, reading.root_cause_from_stack) == ("closed", "java.lang.IllegalStateException")
    assert reading.error_class is None
    assert reading.original_value == (b"raw" if len(more) == 4 else b"{}")
    assert bool(reading.not_original) is (len(more) < 4)


def test_kstreamplify_s_bytes_go_before_its_text():
    reading = identify(record([], "app-dlq", value=kstreamplify(text=None, byte_value=b"\xff")))
    assert (reading.original_value, reading.not_original) == (b"\xff", "")


@pytest.mark.parametrize(
    "value",
    [
        kstreamplify()[:-1],
        kstreamplify() + b"\0",
        kstreamplify(topic="not a topic"),
        kstreamplify(offset=-2),
        b"\0\0\0\0\7",
        b"\0" * 40,
        b"\1" + kstreamplify()[1:],
    ],
)
def test_another_record_of_a_registry_is_not_taken_for_it(value):
    assert identify(record([], "orders", value=value)).framework == UNATTRIBUTED


def test_bakdata_s_avro_record():
    fields = ["{}", "orders", 2, 17]
    cause = ["java.lang.IllegalStateException", "closed", STACK]
    value = b"\0\0\0\0\7" + b"".join(
        [*map(_maybe, fields), _text("booking"), *map(_maybe, cause), _maybe(1_795_000_000_000)]
    )
    reading = identify(record([], "app-dead", value=value))
    assert (reading.framework, reading.component) == ("bakdata", "booking")
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 2, 17)
    assert (reading.source_timestamp_ms, reading.error_class) == (
        1_795_000_000_000,
        "java.lang.IllegalStateException",
    )
    assert (reading.original_value, reading.error_message) == (b"{}", "closed")


def _field(number, content):
    if isinstance(content, int):
        return bytes([number << 3]) + _varint(content)
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _string(number, text):
    return _field(number, _field(1, text.encode()) if text else b"")


def proto(*, partition=2, seconds=1_795_000_000, value="{}", more=b""):
    cause = _string(1, "closed") + _string(2, STACK) + _string(3, "java.lang.IllegalStateException")
    inside = _field(1, partition) if partition else b""
    letter = _field(1, b"booking") + _field(2, cause) + _string(3, value) + _string(4, "orders") + _field(5, inside)
    time = _field(1, seconds) + _field(2, 123_000_000)
    return b"\0\0\0\0\7\0" + letter + _field(6, _field(1, 17)) + _field(7, time) + more


def test_bakdata_s_protobuf_message():
    reading = identify(record([], "app-dead", value=proto()))
    assert (reading.framework, reading.component, reading.error_message) == ("bakdata", "booking", "closed")
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 2, 17)
    assert reading.source_timestamp_ms == 1_795_000_000_123
    assert reading.error_class == reading.root_cause_from_stack == "java.lang.IllegalStateException"
    assert (reading.original_value, bool(reading.not_original)) == (b"{}", True)


def test_numbers_of_bakdata_s_protobuf_message():
    assert identify(record([], value=proto(partition=0))).source_partition == 0
    assert identify(record([], value=proto(partition=2**64 - 1))).source_partition is None
    assert identify(record([], value=proto(seconds=2**63))).source_timestamp_ms is None
    assert identify(record([], value=proto(value=""))).original_value == b""


@pytest.mark.parametrize("value", [proto()[:-1], proto(more=b"\x42\1x"), b"\0\0\0\0\7\1" + proto()[6:], proto()[1:]])
def test_another_protobuf_message_is_not_bakdata_s(value):
    assert identify(record([], "orders", value=value)).framework == UNATTRIBUTED


def test_numbers_of_text_families_are_digits():
    for adds, name in (
        (sets.streams, "__streams.errors.offset"),
        (sets.share, "__dlq.errors.offset"),
        (sets.smallrye, "dead-letter-offset"),
        (sets.helidon, "dlq-orig-offset"),
        (sets.connect, "__connect.errors.offset"),
    ):
        for junk in (None, b"", b"-1", b"\0\0\0\0\0\0\0\x11", b"1e3", b"9" * 400, int32(7), b" 7"):
            assert identify(record(_replaced(adds((), "a"), name, junk))).source_offset is None
        assert identify(record(_replaced(adds((), "a"), name, decimal(0)))).source_offset == 0
