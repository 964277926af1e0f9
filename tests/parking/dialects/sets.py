"""What each producer adds to a record that it gives up, made by hand after dlq formats §3 and §4."""

import struct
from collections.abc import Callable, Sequence

from parking.record import Headers, Record

Header = tuple[str, bytes | None]
Adds = Callable[[Headers, str], Headers]
"""Headers of a record, and what tells this failure from others: offset, group and class are made of it."""

LISTENER = b"org.springframework.kafka.listener.ListenerExecutionFailedException"
MESSAGING = b"org.springframework.messaging.MessagingException"
TIMESTAMP = 1_795_000_000_000


def record(
    headers: Sequence[tuple[str, bytes | None]] | Sequence[tuple[str, bytes]],
    topic: str = "orders-dlt",
    *,
    key: bytes | None = b"k",
    value: bytes | None = b"{}",
    timestamp_ms: int = 1_796_000_000_000,
) -> Record:
    return Record(topic, 3, 40, timestamp_ms, key, value, tuple(headers))


def number(mark: str) -> int:
    """The offset that the failure of that mark names."""
    return sum(mark.encode())


def int32(value: int) -> bytes:
    return struct.pack(">i", value)


def int64(value: int) -> bytes:
    return struct.pack(">q", value)


def decimal(value: int) -> bytes:
    return b"%d" % value


def _without(headers: Headers, *prefixes: str) -> Headers:
    return tuple(header for header in headers if not header[0].startswith(prefixes))


def _java(mark: str, outer: bytes) -> tuple[bytes, bytes]:
    """Class and stack trace."""
    return b"a.%s" % mark.encode(), outer + b": x\n\tat a.B.c(B.java:1)\nCaused by: a.%s: closed\n" % mark.encode()


def spring(headers: Headers, mark: str) -> Headers:
    thrown, stack = _java(mark, LISTENER)
    return (
        *_without(headers, "kafka_dlt-exception-", "kafka_dlt-key-exception-"),
        ("kafka_dlt-exception-fqcn", LISTENER),
        ("kafka_dlt-exception-cause-fqcn", thrown),
        ("kafka_dlt-exception-message", b"closed " + mark.encode()),
        ("kafka_dlt-exception-stacktrace", stack),
        ("kafka_dlt-original-topic", mark.encode()),
        ("kafka_dlt-original-partition", int32(2)),
        ("kafka_dlt-original-offset", int64(number(mark))),
        ("kafka_dlt-original-timestamp", int64(TIMESTAMP)),
        ("kafka_dlt-original-timestamp-type", b"CreateTime"),
        ("kafka_dlt-original-consumer-group", b"group-" + mark.encode()),
    )


def retryable(headers: Headers, mark: str) -> Headers:
    """It keeps the position of its first pass, and a group that another of Spring's has written."""
    thrown, stack = _java(mark, LISTENER)
    kept = _without(headers, "kafka_exception-")
    passed = any(name == "kafka_original-topic" for name, _ in kept)
    grouped = any(name == "kafka_dlt-original-consumer-group" for name, _ in kept)
    position: Headers = (
        ("kafka_original-topic", mark.encode()),
        ("kafka_original-partition", int32(2)),
        ("kafka_original-offset", int64(number(mark))),
        ("kafka_original-timestamp", int64(TIMESTAMP)),
        ("kafka_original-timestamp-type", b"CreateTime"),
    )
    group: Headers = (("kafka_dlt-original-consumer-group", b"group-" + mark.encode()),)
    return (
        *kept,
        *(() if passed else position),
        *(() if grouped else group),
        ("retry_topic-original-timestamp", b"\x01\xa2\x2c\x71\x95\xa1"),
        ("retry_topic-attempts", int32(3)),
        ("retry_topic-backoff-timestamp", b"\x01\xa2\x2c\x71\x95\xa2"),
        ("kafka_exception-fqcn", LISTENER),
        ("kafka_exception-cause-fqcn", thrown),
        ("kafka_exception-message", b"closed " + mark.encode()),
        ("kafka_exception-stacktrace", stack),
    )


def stream(headers: Headers, mark: str) -> Headers:
    _, stack = _java(mark, MESSAGING)
    return (
        *headers,
        ("x-original-topic", mark.encode()),
        ("x-original-partition", int32(2)),
        ("x-original-offset", int64(number(mark))),
        ("x-original-timestamp", int64(TIMESTAMP)),
        ("x-original-timestamp-type", b"CreateTime"),
        ("x-exception-fqcn", MESSAGING),
        ("x-exception-message", b"closed " + mark.encode()),
        ("x-exception-stacktrace", stack),
    )


def connect(headers: Headers, mark: str) -> Headers:
    thrown, stack = _java(mark, b"a.%s" % mark.encode())
    texts = {
        "topic": mark.encode(),
        "partition": b"2",
        "offset": decimal(number(mark)),
        "connector.name": mark.encode(),
        "task.id": b"0",
        "stage": b"TASK_PUT",
        "class.name": b"org.apache.kafka.connect.sink.SinkTask",
        "exception.class.name": thrown,
        "exception.message": b"closed " + mark.encode(),
        "exception.stacktrace": stack,
    }
    return (*headers, *((f"__connect.errors.{name}", value) for name, value in texts.items()))


def streams(headers: Headers, mark: str) -> Headers:
    thrown, stack = _java(mark, b"a.%s" % mark.encode())
    texts = {
        "exception": thrown,
        "message": b"closed " + mark.encode(),
        "stacktrace": stack,
        "topic": mark.encode(),
        "partition": b"2",
        "offset": decimal(number(mark)),
    }
    return (*headers, *((f"__streams.errors.{name}", value) for name, value in texts.items()))


def bakdata(headers: Headers, mark: str) -> Headers:
    """Each of its headers is removed and added anew."""
    thrown, stack = _java(mark, b"a.%s" % mark.encode())
    texts = {
        "topic": mark.encode(),
        "partition": b"2",
        "offset": decimal(number(mark)),
        "exception.class.name": thrown,
        "exception.message": b"closed " + mark.encode(),
        "exception.stack_trace": stack,
        "description": b"booking",
    }
    added = tuple((f"__streams.errors.{name}", value) for name, value in texts.items())
    names = {name for name, _ in added}
    return (*(header for header in headers if header[0] not in names), *added)


def share(headers: Headers, mark: str) -> Headers:
    """As trunk does it, which copies the headers of the source."""
    texts = {
        "topic": mark.encode(),
        "partition": b"2",
        "offset": decimal(number(mark)),
        "group": b"group-" + mark.encode(),
        "delivery.count": b"3",
        "message": b"closed " + mark.encode(),
    }
    return (*headers, *((f"__dlq.errors.{name}", value) for name, value in texts.items()))


def smallrye(headers: Headers, mark: str) -> Headers:
    """In front of all."""
    return (
        ("dead-letter-exception-class-name", b"java.util.concurrent.CompletionException"),
        ("dead-letter-reason", b"closed " + mark.encode()),
        ("dead-letter-cause-class-name", b"a." + mark.encode()),
        ("dead-letter-cause", b"closed"),
        ("dead-letter-topic", mark.encode()),
        ("dead-letter-partition", b"2"),
        ("dead-letter-offset", decimal(number(mark))),
        *headers,
    )


def delayed(headers: Headers, mark: str) -> Headers:
    """In front of all, but for the three that are replaced."""
    return (
        ("delayed-retry-exception-class-name", b"a." + mark.encode()),
        ("delayed-retry-reason", b"closed " + mark.encode()),
        ("delayed-retry-topic", mark.encode()),
        ("delayed-retry-partition", b"2"),
        ("delayed-retry-offset", decimal(number(mark))),
        *_without(headers, "delayed-retry-count", "delayed-retry-original-", "delayed-retry-first-"),
        ("delayed-retry-original-timestamp", decimal(TIMESTAMP)),
        ("delayed-retry-first-processing-timestamp", decimal(TIMESTAMP + 50)),
        ("delayed-retry-count", b"1"),
    )


def helidon(headers: Headers, mark: str) -> Headers:
    return (
        *_without(headers, "topic"),
        ("topic", b"orders-dlq"),
        ("dlq-error", b"a." + mark.encode()),
        ("dlq-error-msg", b"closed " + mark.encode()),
        ("dlq-orig-topic", mark.encode()),
        ("dlq-orig-offset", decimal(number(mark))),
        ("dlq-orig-partition", b"2"),
    )


def silverback(headers: Headers, mark: str) -> Headers:
    return (
        *_without(headers, "x-source-", "x-fail"),
        ("x-failed-attempts", b"3"),
        ("x-source-topic", mark.encode()),
        ("x-source-consumer-group-id", b"group-" + mark.encode()),
        ("x-failure-reason", b"a.%s in Billing" % mark.encode()),
        ("x-source-partition", b"2"),
        ("x-source-offset", decimal(number(mark))),
        ("x-source-timestamp", b"2026-01-01T00:00:00.1230000Z"),
    )


def wolverine(headers: Headers, mark: str) -> Headers:
    return (
        *_without(headers, "exception-", "failed-at", "original-"),
        ("attempts", b"3"),
        ("exception-type", b"a." + mark.encode()),
        ("exception-message", b"closed " + mark.encode()),
        ("exception-stack", b"   at A.B(C c) in /src/A.cs:line 2"),
        ("failed-at", decimal(TIMESTAMP)),
        ("original-destination", b"kafka://topic/" + mark.encode()),
        ("original-partition", b"2"),
        ("original-offset", decimal(number(mark))),
    )


def rule(headers: Headers, mark: str) -> Headers:
    return (
        *headers,
        ("__rule.name", b"positive"),
        ("__rule.mode", b"READ"),
        ("__rule.subject", mark.encode() + b"-value"),
        ("__rule.topic", mark.encode()),
        ("__rule.exception", b"closed " + mark.encode()),
    )


PRODUCERS: dict[str, Adds] = {
    "spring-kafka": spring,
    "spring-retryable-topic": retryable,
    "spring-cloud-stream": stream,
    "kafka-connect": connect,
    "kafka-streams": streams,
    "bakdata": bakdata,
    "share-group": share,
    "smallrye": smallrye,
    "smallrye-delayed-retry": delayed,
    "helidon": helidon,
    "silverback": silverback,
    "wolverine": wolverine,
    "data-contract": rule,
}
IN_FRONT = ("smallrye", "smallrye-delayed-retry")
OWN_TOPIC = {"smallrye": "dead-letter-topic-orders", "smallrye-delayed-retry": "orders_retry_600"}
