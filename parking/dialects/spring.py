"""Spring for Apache Kafka, DeadLetterPublishingRecoverer (dlq formats, §3.1).

Each failure appends an exception set (`kafka_dlt-[key-]exception-*`) and then an original set (`kafka_dlt-original-*`);
since 2.8 older exception sets are stripped. Numbers are binary. `@RetryableTopic` has names of its own: another family.
"""

from parking.dialects import java, spring_sets, spring_template
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import int32, last, text

_NAMES = spring_sets.names("kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-")
_ATTEMPT = "kafka_deliveryAttempt"


def read(found: Found) -> Reading:
    layout, headers = found.layout, found.record.headers
    exception = headers[layout.before :]
    original = exception if layout.begin is None else headers[layout.begin :]
    why = spring_sets.exception(exception, _NAMES)
    original_key, original_value = spring_template.unwrapped(found.record, why.classes)
    return found.reading(
        _NAMES.original.at(tuple(reversed(original)) if layout.begin is None else original),
        consumer_group=text(last(original, spring_sets.GROUP)),
        attempts=int32(last(exception, _ATTEMPT)),
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
    begins=(_NAMES.original.topic,),
    oldest=_NAMES.original.first,
)  # fmt: skip
