"""Headers by which a record shows that yet another family wrote to it (dlq formats, §1): the newest stands last."""

from parking.record import Headers

_PREFIXES = (
    "kafka_original-", "kafka_exception-", "kafka_key-exception-", "retry_topic-", "x-exception-",
    "__connect.errors.", "__streams.errors.", "__dlq.errors.", "_dlq.errors.", "__rule.",
    "Kafka-Flow-Retry-Durable-", "wolverine-kafka-retry-", "MT-Fault-", "NServiceBus.", "X-Message-Stamp-",
)  # fmt: skip
_NAMES = frozenset(
    (
        "source_consumer_group", "original_consumer_group", "x-failure-reason", "failed-at", "RejectionTimestamp",
        "rbs2-error-details", "MT-Reason", "reason_poisoned", "dlq-orig-topic", "asyncRetry", "x-original-channel",
        "kafka_throwable_class_name", "exc_class", "x-retry-count", "retriable_kafka_attempt",
    )
)  # fmt: skip


def last_of_another(headers: Headers) -> int:
    """The place of the last header of a family that appends to the list; −1 if there is none."""
    for place in range(len(headers) - 1, -1, -1):
        name = headers[place][0]
        if name in _NAMES or name.startswith(_PREFIXES):
            return place
    return -1


def smallrye_is_newest(topic: str, headers: Headers) -> bool:
    """SmallRye writes in front, so only its own topic names tell that it came last."""
    return (topic.startswith("dead-letter-topic-") or "_retry_" in topic) and any(
        name in ("dead-letter-topic", "delayed-retry-topic") for name, _ in headers
    )
