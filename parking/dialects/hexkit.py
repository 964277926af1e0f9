"""hexkit, Python (dlq formats, §5): ASCII headers; the value is encoded anew and the user's headers are gone.

Its consumer group is the name of the service. The topic is the main one, also of a failure on `retry-<service>`.
"""

from parking.dialects import causes, dead_letter
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text
from parking.record import Record

FRAMEWORK = "hexkit"

_OF_A_FAILURE = frozenset(("exc_class", "exc_msg", "original_topic", "original_event_id", "service"))
_NOT_ORIGINAL = "Its producer wrote the value anew and left the event's other headers out."


def failure_header(name: str) -> bool:
    """Whether a header was added when the event failed."""
    return name in _OF_A_FAILURE


def read(record: Record) -> Reading:
    service = text(record.last("service"))
    return dead_letter.of(
        FRAMEWORK,
        record,
        failure_header,
        Position(text(record.last("original_topic")) or "", None, None),
        causes.fields([text(record.last("exc_class"))], text(record.last("exc_msg"))),
        consumer_group=service,
        component=service,
        derived=("consumer_group",) if service else (),
        not_original=_NOT_ORIGINAL,
    )
