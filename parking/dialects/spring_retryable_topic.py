"""Spring `@RetryableTopic` (dlq formats, §3.2): the same values as `spring` under other names.

The position stays that of the first pass, whatever happens later; the exception set is replaced (2.7: appended), the
`retry_topic-*` headers are appended at each hop. On a retry topic the event waits for its next try: it is not parked.
"""

from parking.dialects import java, spring_sets, spring_template, topics
from parking.dialects.family import Family, Found, any_of
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import integer, last, text
from parking.record import Headers

_NAMES = spring_sets.names("kafka_original-", "kafka_exception-", "kafka_key-exception-")
_NEXT_ATTEMPT, _DUE = "retry_topic-attempts", "retry_topic-backoff-timestamp"
_OTHER_TOPIC = "kafka_dlt-original-topic"


def read(found: Found) -> Reading:
    original = _original(found.record.headers)
    why = spring_sets.exception(found.own, _NAMES)
    original_key, original_value = spring_template.unwrapped(found.record, why.classes)
    return found.reading(
        _NAMES.original.at(original),
        kind=RETRY_PENDING if topics.is_retry(found.record.topic) else DEAD_LETTER,
        consumer_group=text(last(original, spring_sets.GROUP)),
        due_at_ms=integer(last(found.own, _DUE)),
        attempts=_attempts(found.own),
        headers=spring_template.given(found, original_value),
        original_key=original_key,
        original_value=original_value,
        not_original=spring_template.not_original(found, original_value),
        position_may_be_earlier_pass=True,
        **java.fields(why.classes, why.message, why.stacktrace),
    )


FAMILY = Family(
    "spring-retryable-topic",
    read,
    headers=("kafka_original-*", "kafka_exception-*", "kafka_key-exception-*", "retry_topic-*"),
    also=spring_sets.ALSO,
    signature=any_of(_NAMES.original.topic, _NEXT_ATTEMPT),
    oldest=_NAMES.original.first,
)


def _original(headers: Headers) -> Headers:
    """From the newest topic header on, as far as the next of Spring's other family: a group elsewhere is not ours."""
    begins = [place for place, (name, _) in enumerate(headers) if name == _NAMES.original.topic]
    if not begins:
        return ()
    own = headers[begins[-1] :]
    return own[: next((place for place, (name, _) in enumerate(own) if name == _OTHER_TOPIC), None)]


def _attempts(own: Headers) -> int | None:
    """The header counts the next attempt; a number of 1 or 2 bytes in early 2.7."""
    following = integer(last(own, _NEXT_ATTEMPT))
    return following - 1 if following else None
