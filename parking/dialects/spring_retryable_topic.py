"""Spring `@RetryableTopic` (dlq formats, §3.2): the same values as `spring` under other names.

The position stays that of the first pass, whatever happens later; the exception set is replaced (2.7: appended), the
`retry_topic-*` headers are appended at each hop. On a retry topic the event waits for its next try: it is not parked.
"""

from parking.dialects import families, identity, java, origin, spring_sets, spring_template, topics
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import integer, last, text
from parking.record import Headers, Record

FRAMEWORK = "spring-retryable-topic"

_NAMES = spring_sets.Names("kafka_original-", "kafka_exception-", "kafka_key-exception-")
_TOPIC = f"{_NAMES.original}topic"
_NEXT_ATTEMPT = "retry_topic-attempts"


def reads(record: Record) -> bool:
    """Whether the newest failure in the record is of this family."""
    is_newest = families.newest(record.topic, record.headers) == families.RETRYABLE_TOPIC
    return is_newest and (record.has(_TOPIC) or record.has(_NEXT_ATTEMPT))


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: kept, the consumer would go on with the old attempt count."""
    return spring_sets.failure_header(name)


def read(record: Record) -> Reading:
    own = families.after_others(families.RETRYABLE_TOPIC, record.headers)
    original = _original(own)
    why = spring_sets.exception(own, _NAMES)
    source, oldest = spring_sets.source(original, _NAMES), origin.oldest(record.headers)
    headers = spring_sets.without_failure(record.headers)
    original_key, original_value = spring_template.unwrapped(record, why.classes)
    return Reading(
        framework=FRAMEWORK,
        kind=RETRY_PENDING if topics.is_retry(record.topic) else DEAD_LETTER,
        event_id=identity.of(record, headers, oldest),
        consumer_group=text(last(original, families.SHARED_GROUP)),
        attempts=_attempts(own),
        original_key=original_key,
        original_value=original_value,
        payload_missing=False,
        position_may_be_earlier_pass=True,
        token=identity.token(record),
        original_headers=headers,
        **origin.fields(source, oldest),
        **java.fields(why.classes, why.message, why.stacktrace),
    )


def _original(own: Headers) -> Headers:
    """From the newest topic header on: a consumer group before it is of an older failure."""
    places = [place for place, (name, _) in enumerate(own) if name == _TOPIC]
    return own[places[-1] :] if places else ()


def _attempts(own: Headers) -> int | None:
    """The header counts the next attempt; a number of 1 or 2 bytes in early 2.7."""
    following = integer(last(own, _NEXT_ATTEMPT))
    return following - 1 if following else None
