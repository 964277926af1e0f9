"""Spring for Apache Kafka, DeadLetterPublishingRecoverer (dlq formats, §3.1).

Each failure appends an exception set (`kafka_dlt-[key-]exception-*`) and then an original set (`kafka_dlt-original-*`);
since 2.8 older exception sets are stripped. Numbers are binary. `@RetryableTopic` has names of its own: another family.
"""

from typing import NamedTuple

from parking.dialects import families, identity, java, origin, spring_sets, spring_template
from parking.dialects.reading import DEAD_LETTER, Reading
from parking.dialects.values import int32, last, text
from parking.record import Headers, Record

FRAMEWORK = "spring-kafka"

_NAMES = spring_sets.Names("kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-")
_ATTEMPT = "kafka_deliveryAttempt"


class _Newest(NamedTuple):
    """The headers of the newest failure: its exception set with the attempt before it, and its original set."""

    exception: Headers
    original: Headers


def reads(record: Record) -> bool:
    """Whether the newest failure in the record is of this family."""
    return families.newest(record.topic, record.headers) == families.SPRING


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: a replay leaves it out, so that the consumer starts afresh."""
    return spring_sets.failure_header(name)


def read(record: Record) -> Reading:
    newest = _newest(record.headers)
    why = spring_sets.exception(newest.exception, _NAMES)
    source, oldest = spring_sets.source(newest.original, _NAMES), origin.oldest(record.headers)
    headers = spring_sets.without_failure(record.headers)
    original_key, original_value = spring_template.unwrapped(record, why.classes)
    return Reading(
        framework=FRAMEWORK,
        kind=DEAD_LETTER,
        event_id=identity.of(record, headers, oldest),
        consumer_group=text(last(newest.original, families.SHARED_GROUP)),
        attempts=int32(last(newest.exception, _ATTEMPT)),
        original_key=original_key,
        original_value=original_value,
        payload_missing=False,
        token=identity.token(record),
        original_headers=headers,
        **origin.fields(source, oldest),
        **java.fields(why.classes, why.message, why.stacktrace),
    )


def _newest(headers: Headers) -> _Newest:
    """Cut where the sets before it end: what configuration drops from a set is never borrowed from an older one."""
    own = families.after_others(families.SPRING, headers)
    topics = [place for place, (name, _) in enumerate(own) if name == f"{_NAMES.original}topic"]
    before = topics[-2] if len(topics) > 1 else -1
    return _Newest(own[before + 1 :], own[topics[-1] :] if topics else own[before + 1 :])
