"""Dapr: what its Kafka component knows of a message becomes text headers of the dead letter (dlq formats, §5).

Who failed, why and how often is not there. When a dead letter is sent to its topic again with its headers, those of the
first pass stay.
"""

from parking.dialects import causes, hand_rolled
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text


def read(found: Found) -> Reading:
    why = causes.why(*hand_rolled.why(found))
    return found.reading(_position(found), position_may_be_earlier_pass=True, why=why)


def _position(found: Found) -> Position | None:
    topic = text(found.last("__topic"))
    numbers = (decimal(found.last(name)) for name in ("__partition", "__offset", "__timestamp"))
    return Position(topic, *numbers) if topic else None


FAMILY = Family(
    "dapr",
    read,
    headers=("__topic", "__partition", "__offset", "__timestamp", "__key"),
    also=("pubsubName",),
    signature=all_of("__topic", "__partition", "__offset"),
    oldest=_position,
)
