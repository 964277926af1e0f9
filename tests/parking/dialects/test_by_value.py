"""Families that tell by value or key: AWS Lambda, ksqlDB, Knative, uber-go, JSON envelopes (dlq formats, §5, §6)."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import identify, protobuf
from parking.record import Record


def record(value, topic="parked", *, key=b"k", headers=()):
    data = json.dumps(value).encode() if isinstance(value, dict) else value
    return Record(topic, 3, 40, 1_796_000_000_000, key, data, tuple(headers))


def b64(data):
    return base64.b64encode(data).decode()


# AWS Lambda


def wrapped(offset=17, **more):
    return {
        "topic": "orders",
        "partition": 7,
        "offset": offset,
        "timestamp": 1_767_225_600_123,
        "timestampType": "CREATE_TIME",
        "key": b64(b"A-1"),
        "value": b64(b'{"n":1.50}'),
        "headers": [{"tag": [97, -1]}, {"tag": None}, {"empty": []}],
        **more,
    }


def lambda_esm(*records, **more):
    return {
        "requestContext": {
            "functionArn": "arn:aws:lambda:eu-west-1:123456789012:function:billing:$LATEST",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 3,
        },
        "responseContext": {"functionError": "Unhandled"},
        "timestamp": "2026-01-01T00:01:00.456Z",
        "KafkaBatchInfo": {"recordInfo": {"offset": "17", "timestamp": "2026-01-01T00:00:00.123Z"}},
        "payload": {"records": {"orders-7": list(records)}},
        **more,
    }


def test_lambda_gives_back_key_value_and_headers_of_the_event():
    given_ = record(lambda_esm(wrapped()), key=b"A-1")
    reading = identify(given_)
    assert (reading.framework, reading.component, reading.attempts) == ("aws-lambda", "billing", 3)
    assert reading.content(given_) == (b"A-1", b'{"n":1.50}')
    assert reading.original_headers == (("tag", b"a\xff"), ("tag", None), ("empty", b""))
    assert (reading.event_id, reading.not_original) == ("orders/7/17@1767225600123", "")


def test_lambda_wraps_a_tombstone():
    given_ = record(lambda_esm(wrapped(value=None)))
    reading = identify(given_)
    assert reading.content(given_) == (b"A-1", None)
    assert (reading.original_value, reading.payload_missing) == (None, False)


def test_of_several_wrapped_events_it_is_the_one_at_the_named_offset():
    assert identify(record(lambda_esm(wrapped(16), wrapped(17)))).source_offset == 17
    doubtful = identify(record(lambda_esm(wrapped(17), wrapped(17))))
    assert "several" in doubtful.not_original
    assert doubtful.payload_missing is True


@pytest.mark.parametrize("more", [{"payload": None}, {"payload": {"records": []}}, {"payload": 7}])
def test_an_event_that_was_too_large_is_missing(more):
    reading = identify(record(lambda_esm(**more, responseContext=None)))
    assert (reading.framework, reading.payload_missing, reading.source_offset) == ("aws-lambda", True, 17)
    assert (reading.error_class, reading.error_message) == (None, "RetryAttemptsExhausted")
    assert "too large" in reading.not_original


def test_lambda_with_a_value_that_is_no_base64_is_not_replayed_as_such():
    assert identify(record(lambda_esm(wrapped(value="%%")))).payload_missing is True


# ksqlDB


def log(**errors):
    return {"logger": "processing.CSAS_1.Source", "time": 1_767_225_660_456, "message": {"type": 0, **errors}}


def test_ksqldb_wraps_one_part_of_the_record():
    error = {"target": "key", "errorMessage": "no", "recordB64": b64(b"A-1"), "topic": "orders"}
    given_ = record(log(deserializationError=error, productionError=None), key=None)
    reading = identify(given_)
    assert (reading.framework, reading.component, reading.source_topic) == ("ksqldb", "query CSAS_1", "orders")
    assert (reading.original_key, reading.content(given_)) == (b"A-1", (b"A-1", None))
    assert reading.not_original


def test_ksqldb_may_leave_the_record_out():
    reading = identify(record(log(recordProcessingError={"errorMessage": "no", "record": None})))
    assert (reading.error_message, reading.payload_missing) == ("no", True)


# Knative


def test_a_structured_cloud_event_that_failed():
    event = {
        "id": "1", "source": "/checkout", "time": "2026-01-01T00:00:00.123Z", "data": {},
        "knativeerrorcode": "503", "knativeerrordest": "http://billing", "knativeerrordata": b64(b"closed"),
    }  # fmt: skip
    headers = [("content-type", b"application/cloudevents+json; charset=utf-8")]
    reading = identify(record(event, headers=headers))
    assert (reading.framework, reading.error_class, reading.error_message) == ("knative", "HTTP 503", "closed")
    assert (reading.component, reading.source_timestamp_ms) == ("http://billing", 1_767_225_600_123)
    assert reading.not_original
    assert identify(record({"id": "1"}, headers=headers)).framework == "unattributed"


# uber-go


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def metadata(count=3, topic=b"orders", partition=2, offset=4, key=b"A-1"):
    numbers = ((1, count), (3, partition), (4, offset))
    written = b"".join(varint(field << 3) + varint(number) for field, number in numbers if number)
    texts = ((2, topic), (6, key))
    return written + b"".join(varint(field << 3 | 2) + varint(len(text)) + text for field, text in texts if text)


@pytest.mark.parametrize(
    ("topic", "kind"), [("billing__orders__dlq", "dead_letter"), ("billing__orders__retry", "retry_pending")]
)
def test_uber_keeps_everything_in_the_key(topic, kind):
    given_ = record(b"v", topic, key=metadata())
    reading = identify(given_)
    assert (reading.framework, reading.kind, reading.attempts) == ("uber-kafka-client", kind, 3)
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 2, 4)
    assert reading.content(given_) == (b"A-1", b"v")


def test_uber_leaves_out_zero_and_null():
    given_ = record(b"v", "a__dlq", key=metadata(0, partition=0, offset=0, key=b""))
    reading = identify(given_)
    assert (reading.attempts, reading.source_partition, reading.source_offset) == (0, 0, 0)
    assert reading.content(given_) == (None, b"v")


@pytest.mark.parametrize("key", [b"A-1", b"", None, metadata()[:-1], b"\x12\x01", metadata(topic=b"")])
def test_on_such_a_topic_other_keys_are_keys(key):
    assert identify(record(b"v", "a__dlq", key=key)).framework != "uber-kafka-client"


@given(st.binary(max_size=40))
def test_any_bytes_are_a_message_or_none(data):
    found = protobuf.fields(data)
    assert found is None or all(number > 0 for number in found)


# JSON envelopes


def test_an_envelope_with_the_value_as_text():
    given_ = record({"original_topic": "orders", "original_value": '{"n": 1.50}', "error": "closed", "retries": 2})
    reading = identify(given_)
    assert (reading.framework, reading.source_topic, reading.error_message) == ("json-envelope", "orders", "closed")
    assert (reading.attempts, reading.content(given_), reading.not_original) == (2, (b"k", b'{"n": 1.50}'), "")


def test_an_embedded_value_is_taken_as_written_and_was_not_the_original():
    given_ = record(b'{"error": "closed", "payload": {"n": 1.50, "big": 12345678901234567890}}')
    reading = identify(given_)
    assert reading.content(given_)[1] == b'{"n": 1.50, "big": 12345678901234567890}'
    assert "anew" in reading.not_original


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ({"raw_value": "b'\\x00a'"}, b"\0a"),
        ({"original_value": b64(b'{"a":1}')}, b'{"a":1}'),
        ({"original_value_base64": b64(b"abcd")}, b"abcd"),
        ({"original_value": "abcd"}, b"abcd"),
        ({"original_value": None}, None),
    ],
)
def test_how_a_value_stands_in_an_envelope(member, content):
    given_ = record({"original_topic": "orders", **member})
    assert identify(given_).content(given_) == (b"k", content)


def test_a_lossy_value_is_said_to_be():
    assert "UTF-8" in identify(record({"source_topic": "orders", "payload": "caf\ufffd"})).not_original


def test_an_envelope_without_the_value_has_nothing_to_replay():
    reading = identify(record({"original_topic": "orders", "original_offset": 3, "error": "closed"}))
    assert (reading.source_offset, reading.payload_missing) == (3, True)


def test_members_may_be_grouped_and_of_any_case():
    reading = identify(
        record(
            {
                "source": {"topic": "orders", "partition": 1, "offset": 2, "timestamp": 1_767_225_600_123},
                "error": {"type": "Closed", "message": "no", "stack": ["a", "b"]},
                "originalKey": None,
                "payload": "x",
                "failedAt": "2026-01-01T00:01:00.456Z",
                "attemptCount": "3",
            }
        )
    )
    assert (reading.source_topic, reading.source_partition, reading.source_offset) == ("orders", 1, 2)
    assert (reading.error_class, reading.error_message, reading.stacktrace) == ("Closed", "no", "a\nb")
    assert (reading.failed_at_ms, reading.attempts) == (1_767_225_660_456, 3)
    assert reading.unwrapped == (None, b"x")


@pytest.mark.parametrize(
    ("at", "ms"),
    [
        (1_767_225_660.123, 1_767_225_660_123),
        (1_767_225_660, 1_767_225_660_000),
        ("1767225660123", 1_767_225_660_123),
        ("2026-01-01 00:01:00.123", 1_767_225_660_123),
        (True, None),
        (-1, None),
        ([], None),
    ],
)
def test_times_in_an_envelope(at, ms):
    assert identify(record({"original_topic": "orders", "failed_at": at})).failed_at_ms == ms


@pytest.mark.parametrize(
    "value",
    [
        {"orderId": "A-1", "amount": 42.5},
        {"error": "declined", "data": {"card": 1}, "timestamp": 1},
        {"topic": "news", "payload": "x"},
        {"message": "hello"},
        b'{"original_topic": "orders"',
        b"[1]",
    ],
)
def test_what_an_ordinary_event_may_look_like_is_no_envelope(value):
    assert identify(record(value)).framework == "unattributed"


NAMES = st.sampled_from(
    [
        "requestContext", "KafkaBatchInfo", "payload", "records", "recordInfo", "offset", "logger", "message", "error",
        "deserializationError", "original_topic", "original_value", "timestamp", "time", "source", "key", "headers",
        "knativeerrordata", "functionArn", "target", "recordB64", "exception", "attempts", "failed_at", "a",
    ]
)  # fmt: skip
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, JSON, max_size=8), st.sampled_from([b"", b"application/cloudevents+json"]), st.booleans())
def test_no_value_raises(members, kind, logs):
    members = {**members, **({"logger": "processing.x"} if logs else {})}
    given_ = record(json.dumps(members).encode(), "orders-dlq", headers=[("content-type", kind)])
    reading = identify(given_)
    assert json.dumps(reading.shown())
    assert all(part is None or isinstance(part, bytes) for part in reading.content(given_))


@pytest.mark.parametrize(
    ("headers", "key", "value"),
    [
        ([(f"x-error-{number}", b"v") for number in range(100_000)], b"k", b"{}"),
        ([], b"k", json.dumps({f"m{number}": 1 for number in range(200_000)}).encode()),
        ([], b"k", json.dumps({"original_topic": "o", "payload": {"a": ["x" * 100] * 50_000}}).encode()),
        ([], b"\x12\x01a" * 300_000, b"v"),
        ([("asyncRetry", b'{"a":' * 200_000)], b"k", b"v"),
        ([("reason_poisoned", b"panic occurred: " + b"a, stacktrace: " * 100_000)], b"k", b"v"),
        ([("x-original-topic", b"o"), ("x-error-stack", b"Caused by: a.b" * 80_000)], b"k", b"v"),
    ],
    ids=["headers", "members", "embedded", "key", "deep", "panic", "stack"],
)
def test_nothing_takes_long(headers, key, value, within):
    with within(1.0):
        identify(record(value, "a__dlq", key=key, headers=headers))
