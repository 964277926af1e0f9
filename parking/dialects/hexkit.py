"""hexkit, Python (dlq formats, §5): ASCII headers; the value is encoded anew and the user's headers are gone.

Its consumer group is the name of the service. The topic is the main one, also of a failure on `retry-<service>`.
"""

from parking.dialects import causes
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text

_NOT_ORIGINAL = "Its producer wrote the value anew and left the event's other headers out."


def read(found: Found) -> Reading:
    service = text(found.last("service"))
    return found.reading(
        _position(found),
        consumer_group=service,
        component=service,
        derived=("consumer_group",) if service else (),
        not_original=_NOT_ORIGINAL,
        why=causes.why([text(found.last("exc_class"))], text(found.last("exc_msg"))),
    )


def _position(found: Found) -> Position | None:
    topic = text(found.last("original_topic"))
    return Position(topic, None, None) if topic else None


FAMILY = Family(
    "hexkit",
    read,
    headers=("exc_class", "exc_msg", "original_event_id"),
    also=("original_topic", "service"),
    signature=all_of("exc_class", "exc_msg"),
    oldest=_position,
)
