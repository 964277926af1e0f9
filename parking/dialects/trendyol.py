"""kafka-konsumer and kafka-cronsumer by Trendyol, Go (dlq formats, §5): text headers, replaced in place.

Nothing names the source. konsumer writes the error in front of the count, and its own first delivery is not counted.
"""

from parking.dialects import causes, hand_rolled, topics
from parking.dialects.family import Family, Found, all_of
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text
from parking.record import Headers

_ERROR, _COUNT, _TIME = "x-error-message", "x-retry-count", "x-produce-time"


def read(found: Found) -> Reading:
    record = found.record
    message, produced = text(record.last(_ERROR)), decimal(record.last(_TIME))
    waits = topics.is_retry(record.topic) or record.topic.lower().endswith(("retry", "exception"))
    return found.reading(
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        attempts=_attempts(record.headers, decimal(record.last(_COUNT))),
        failed_at_ms=None if produced is None else produced // 1_000_000,
        **(causes.fields([], message) if message else causes.fields(*hand_rolled.why(found))),
    )


def _attempts(headers: Headers, count: int | None) -> int | None:
    first = next((name for name, _ in headers if name in (_ERROR, _COUNT)), None)
    return count if count is None else count + (first == _ERROR)


FAMILY = Family(
    "trendyol",
    read,
    headers=(_COUNT, _TIME, "x-retry-attempt-count"),
    also=(_ERROR,),
    signature=all_of(_COUNT, _TIME),
)
