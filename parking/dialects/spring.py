"""Spring for Apache Kafka, DeadLetterPublishingRecoverer (dlq formats, §3.1).

Each failure appends an exception set (`kafka_dlt-[key-]exception-*`) and then an original set (`kafka_dlt-original-*`);
since 2.8 older exception sets are stripped. Numbers are binary. `@RetryableTopic` has names of its own: another family.
"""

from parking.dialects import java, spring_sets, spring_template
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import int32, text

_NAMES = spring_sets.names("kafka_dlt-original-", "kafka_dlt-exception-", "kafka_dlt-key-exception-")
_ATTEMPT = "kafka_deliveryAttempt"


def read(found: Found) -> Reading:
    before, begin = found.layout.before, found.layout.begin
    thrown = _NAMES.thrown(found)
    original_key, original_value = spring_template.unwrapped(found, thrown.classes)
    return found.reading(
        _NAMES.original.own(found) if begin is None else _NAMES.original.newest(found),
        consumer_group=text(found.behind(before if begin is None else begin, spring_sets.GROUP)),
        attempts=int32(found.behind(before, _ATTEMPT)),
        headers=spring_template.given(found, original_value),
        original_key=original_key,
        original_value=original_value,
        not_original=spring_template.not_original(found, original_value),
        why=java.why(thrown.classes, thrown.message, thrown.stacktrace),
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
