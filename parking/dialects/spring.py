"""Spring for Apache Kafka, DeadLetterPublishingRecoverer (dlq formats, §3.1).

Each failure appends an exception set (`kafka_dlt-[key-]exception-*`) and then an original set (`kafka_dlt-original-*`);
since 2.8 older exception sets are stripped. Numbers are binary. `@RetryableTopic` has names of its own: another family.
"""

from typing import NamedTuple

from parking.dialects import java, spring_sets, spring_template
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import int32, last, text
from parking.record import Headers

_NAMES = spring_sets.names("kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-")
_ATTEMPT = "kafka_deliveryAttempt"


class _Newest(NamedTuple):
    """The headers of the newest failure: its exception set with the attempt before it, and its original set."""

    exception: Headers
    original: Headers


def read(found: Found) -> Reading:
    newest = _newest(found.own)
    why = spring_sets.exception(newest.exception, _NAMES)
    original_key, original_value = spring_template.unwrapped(found.record, why.classes)
    return found.reading(
        _NAMES.original.at(newest.original),
        consumer_group=text(last(newest.original, spring_sets.GROUP)),
        attempts=int32(last(newest.exception, _ATTEMPT)),
        headers=spring_template.given(found, original_value),
        original_key=original_key,
        original_value=original_value,
        not_original=spring_template.not_original(found, original_value),
        **java.fields(why.classes, why.message, why.stacktrace),
    )


FAMILY = Family(
    "spring-kafka",
    read,
    headers=(
        "kafka_dlt-original-topic", "kafka_dlt-original-partition", "kafka_dlt-original-offset",
        "kafka_dlt-original-timestamp", "kafka_dlt-original-timestamp-type",
        "kafka_dlt-exception-*", "kafka_dlt-key-exception-*",
    ),
    also=spring_sets.ALSO,
    oldest=_NAMES.original.first,
)  # fmt: skip


def _newest(own: Headers) -> _Newest:
    """Cut where the sets before it end: what configuration drops from a set is never borrowed from an older one."""
    topics = [place for place, (name, _) in enumerate(own) if name == _NAMES.original.topic]
    before = topics[-2] if len(topics) > 1 else -1
    newest = own[before + 1 :]
    return _Newest(newest, own[topics[-1] :] if topics else tuple(reversed(newest)))
