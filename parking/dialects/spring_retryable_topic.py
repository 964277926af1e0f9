"""Spring `@RetryableTopic` (dlq formats, §3.2): the same values as `spring` under other names.

The position stays that of the first pass, whatever happens later; the exception set is replaced (2.7: appended), the
`retry_topic-*` headers are appended at each hop. On a retry topic the event waits for its next try: it is not parked.
"""

from typing import TYPE_CHECKING

from parking.dialects import java, spring_sets, spring_template, topics
from parking.dialects.family import Family, Found, any_of
from parking.dialects.origin import Places
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import integer, text

if TYPE_CHECKING:
    from parking.dialects.layout import Layout

_NAMES = spring_sets.names("kafka_original-", "kafka_exception-", "kafka_key-exception-")
_NEXT_ATTEMPT, _DUE = "retry_topic-attempts", "retry_topic-backoff-timestamp"
_OTHER_TOPIC = "kafka_dlt-original-topic"


def read(found: Found) -> Reading:
    places, group = found.layout.once(_original)
    thrown = _NAMES.thrown(found)
    original_key, original_value = spring_template.unwrapped(found, thrown.classes)
    return found.reading(
        found.position(_NAMES.original, places),
        kind=RETRY_PENDING if topics.is_retry(found.record.topic) else DEAD_LETTER,
        consumer_group=text(found.record.headers[group][1]) if group is not None else None,
        due_at_ms=integer(found.own(_DUE)),
        attempts=_attempts(found),
        headers=spring_template.given(found, original_value),
        original_key=original_key,
        original_value=original_value,
        not_original=spring_template.not_original(found, original_value),
        position_may_be_earlier_pass=True,
        why=java.why(thrown.classes, thrown.message, thrown.stacktrace),
    )


FAMILY = Family(
    "spring-retryable-topic",
    read,
    headers=("kafka_original-*", "kafka_exception-*", "kafka_key-exception-*", "retry_topic-*"),
    also=spring_sets.ALSO,
    signature=any_of(_NAMES.original.topic, _NEXT_ATTEMPT),
    oldest=_NAMES.original.first,
)


def _original(layout: "Layout") -> tuple[Places, int | None]:
    """Where the newest position and its group stand: from the newest topic header on, as far as the next of Spring's
    other family, since a group elsewhere is not ours.
    """
    names = layout.names
    begin = layout.lasts.get(_NAMES.original.topic, len(names))
    end = next((place for place in range(begin, len(names)) if names[place] == _OTHER_TOPIC), len(names))
    group = next((place for place in reversed(range(begin, end)) if names[place] == spring_sets.GROUP), None)
    return _NAMES.original.places(names, begin, end), group


def _attempts(found: Found) -> int | None:
    """The header counts the next attempt; a number of 1 or 2 bytes in early 2.7."""
    following = integer(found.own(_NEXT_ATTEMPT))
    return following - 1 if following else None
