"""Dapr: what its Kafka component knows of a message becomes text headers of the dead letter (dlq formats, §5).

Who failed, why and how often is not there. When a dead letter is sent to its topic again with its headers, those of the
first pass stay.
"""

from parking.dialects import causes, hand_rolled
from parking.dialects.family import Family, Found, all_of
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, last, text
from parking.record import Headers


def read(found: Found) -> Reading:
    why = causes.fields(*hand_rolled.why(found))
    return found.reading(_position(found.record.headers), position_may_be_earlier_pass=True, **why)


def _position(headers: Headers) -> Position | None:
    topic = text(last(headers, "__topic"))
    numbers = (decimal(last(headers, name)) for name in ("__partition", "__offset", "__timestamp"))
    return Position(topic, *numbers) if topic else None


FAMILY = Family(
    "dapr",
    read,
    headers=("__topic", "__partition", "__offset", "__timestamp", "__key"),
    also=("pubsubName",),
    signature=all_of("__topic", "__partition", "__offset"),
    oldest=_position,
)
