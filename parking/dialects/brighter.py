"""Brighter, .NET (dlq formats, §4): text headers. The reason is the name of an enum; there is no offset."""

from parking.dialects import causes, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_AT, _REASON, _MESSAGE = "RejectionTimestamp", "RejectionReason", "RejectionMessage"
_TOPIC, _TYPE, _HANDLED = "OriginalTopic", "OriginalType", "HandledCount"


def read(found: Found) -> Reading:
    value = found.last
    return found.reading(
        Position(text(value(_TOPIC)) or "", None, None),
        attempts=decimal(value(_HANDLED)),
        failed_at_ms=times.iso(text(value(_AT))),
        why=causes.why([text(value(_REASON))], text(value(_MESSAGE))),
    )


FAMILY = Family(
    "brighter",
    read,
    headers=(_AT, _REASON, _MESSAGE, _TOPIC, _TYPE),
    also=(_HANDLED,),
    signature=lambda given: _AT in given,
)
