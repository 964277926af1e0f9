"""Which producer's failure is the newest in a record: the family whose own headers stand last (dlq formats, §1)."""

from parking.record import Headers

SPRING, RETRYABLE_TOPIC, STREAM, CONNECT = "spring-kafka", "spring-retryable-topic", "spring-cloud-stream", "connect"
OTHER, SMALLRYE = "other", "smallrye"

SHARED_GROUP = "kafka_dlt-original-consumer-group"
"""Written by both Spring Kafka families: it tells neither."""

_PREFIXES = (
    (SPRING, ("kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-")),
    (RETRYABLE_TOPIC, ("kafka_original-", "kafka_exception-", "kafka_key-exception-", "retry_topic-")),
    (STREAM, ("x-exception-", "x-original-timestamp-type")),
    (CONNECT, ("__connect.errors.",)),
    (
        OTHER,
        (
            "__streams.errors.", "__dlq.errors.", "_dlq.errors.", "__rule.", "Kafka-Flow-Retry-Durable-",
            "wolverine-kafka-retry-", "MT-Fault-", "NServiceBus.", "X-Message-Stamp-",
        ),
    ),
)  # fmt: skip
_NAMES = frozenset(
    (
        "source_consumer_group", "original_consumer_group", "x-failure-reason", "failed-at", "RejectionTimestamp",
        "rbs2-error-details", "MT-Reason", "reason_poisoned", "dlq-orig-topic", "asyncRetry", "x-original-channel",
        "kafka_throwable_class_name", "exc_class", "x-retry-count", "retriable_kafka_attempt",
    )
)  # fmt: skip


def newest(topic: str, headers: Headers) -> str | None:
    """The family of the newest failure; None where no family shows itself. `other` are those that no dialect reads."""
    if _smallrye_is_newest(topic, headers):
        return SMALLRYE
    return next((found for name, _ in reversed(headers) if (found := family(name))), None)


def family(name: str) -> str | None:
    """Whose header of a failure this is; None if nobody's that appends to the list."""
    if name == SHARED_GROUP:
        return None
    if name in _NAMES:
        return OTHER
    return next((family for family, prefixes in _PREFIXES if name.startswith(prefixes)), None)


def after_others(own: str, headers: Headers) -> Headers:
    """What stands behind the last header of another family: what a set lacks is never borrowed from an older one."""
    places = range(len(headers) - 1, -1, -1)
    last = next((place for place in places if family(headers[place][0]) not in (own, None)), -1)
    return headers[last + 1 :]


def _smallrye_is_newest(topic: str, headers: Headers) -> bool:
    """SmallRye writes in front, so only its own topic names tell that it came last."""
    return (topic.startswith("dead-letter-topic-") or "_retry_" in topic) and any(
        name in ("dead-letter-topic", "delayed-retry-topic") for name, _ in headers
    )
