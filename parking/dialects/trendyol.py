"""kafka-konsumer and kafka-cronsumer by Trendyol, Go (dlq formats, §5): text headers, replaced in place.

Nothing names the source. konsumer writes the error in front of the count, and its own first delivery is not counted.
"""

from parking.dialects import causes, hand_rolled, topics
from parking.dialects.family import Family, Found, all_of
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text

_ERROR, _COUNT, _TIME = "x-error-message", "x-retry-count", "x-produce-time"


def read(found: Found) -> Reading:
    record = found.record
    message, produced = text(found.last(_ERROR)), decimal(found.last(_TIME))
    waits = topics.is_retry(record.topic) or record.topic.lower().endswith(("retry", "exception"))
    return found.reading(
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        attempts=_attempts(found, decimal(found.last(_COUNT))),
        failed_at_ms=None if produced is None else produced // 1_000_000,
        why=causes.why([], message) if message else causes.why(*hand_rolled.why(found)),
    )


def _attempts(found: Found, count: int | None) -> int | None:
    firsts = found.layout.firsts
    error_in_front = _ERROR in firsts and firsts[_ERROR] < firsts[_COUNT]
    return count if count is None else count + error_in_front


FAMILY = Family(
    "trendyol",
    read,
    headers=(_COUNT, _TIME, "x-retry-attempt-count"),
    also=(_ERROR,),
    signature=all_of(_COUNT, _TIME),
)
