"""arroyo by Sentry, Python and Rust (dlq formats, §5): partition and offset as text, appended; nothing else."""

from parking.dialects import causes, hand_rolled
from parking.dialects.family import Family, Found, Names
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, first, last
from parking.record import Headers

_PARTITION, _OFFSET = "original_partition", "original_offset"


def read(found: Found) -> Reading:
    headers = found.record.headers
    source = Position("", decimal(last(headers, _PARTITION)), decimal(last(headers, _OFFSET)))
    return found.reading(source, **causes.fields(*hand_rolled.why(found)))


def _signature(given: Names) -> bool:
    """Karafka's and hand-made headers of these names come with the topic's."""
    return _PARTITION in given and _OFFSET in given and not {"original_topic", "original-topic"} & set(given)


def _oldest(headers: Headers) -> Position | None:
    return Position("", decimal(first(headers, _PARTITION)), decimal(first(headers, _OFFSET)))


FAMILY = Family("arroyo", read, headers=(_PARTITION, _OFFSET), signature=_signature, oldest=_oldest)
