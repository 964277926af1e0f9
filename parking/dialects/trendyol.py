"""kafka-konsumer and kafka-cronsumer by Trendyol, Go (dlq formats, §5): text headers, replaced in place.

Nothing names the source. konsumer writes the error in front of the count, and its own first delivery is not counted.
"""

from parking.dialects import causes, dead_letter, hand_rolled, topics
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import decimal, text
from parking.record import Headers, Record

FRAMEWORK = "trendyol"

_ERROR, _COUNT, _TIME = "x-error-message", "x-retry-count", "x-produce-time"
_OF_A_FAILURE = frozenset((_ERROR, _COUNT, _TIME, "x-retry-attempt-count"))


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed: kept, its tries would be used up."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    message = text(record.last(_ERROR))
    why = causes.fields([], message) if message else causes.fields(*hand_rolled.why(record.headers))
    produced = decimal(record.last(_TIME))
    waits = topics.is_retry(record.topic) or record.topic.lower().endswith(("retry", "exception"))
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        dead_letter.NOWHERE,
        why,
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        attempts=_attempts(record.headers, decimal(record.last(_COUNT))),
        failed_at_ms=None if produced is None else produced // 1_000_000,
    )


def _attempts(headers: Headers, count: int | None) -> int | None:
    names = [name for name, _ in headers if name in (_ERROR, _COUNT)]
    konsumer = names[:1] == [_ERROR] and _COUNT in names
    return count if count is None else count + konsumer
