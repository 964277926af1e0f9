"""arroyo by Sentry, Python and Rust (dlq formats, §5): partition and offset as text, appended; nothing else."""

from parking.dialects import causes, hand_rolled
from parking.dialects.family import Family, Found, Names
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal

_PARTITION, _OFFSET = "original_partition", "original_offset"


def read(found: Found) -> Reading:
    source = Position("", decimal(found.last(_PARTITION)), decimal(found.last(_OFFSET)))
    return found.reading(source, why=causes.why(*hand_rolled.why(found)))


def _signature(given: Names) -> bool:
    """Karafka's and hand-made headers of these names come with the topic's."""
    return _PARTITION in given and _OFFSET in given and not {"original_topic", "original-topic"} & set(given)


def _oldest(found: Found) -> Position | None:
    return Position("", decimal(found.first(_PARTITION)), decimal(found.first(_OFFSET)))


FAMILY = Family("arroyo", read, headers=(_PARTITION, _OFFSET), signature=_signature, oldest=_oldest)
