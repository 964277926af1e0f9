"""Silverback, MoveMessageErrorPolicy, .NET (dlq formats, §4): text headers, replaced by each failure.

Of the exception only its innermost type is told, with its assembly: `<Type> in <Source>`.
"""

from parking.dialects import causes, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Named, Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_REASON, _ATTEMPTS, _GROUP = "x-failure-reason", "x-failed-attempts", "x-source-consumer-group-id"
_SOURCE = Named(
    "x-source-topic",
    "x-source-partition",
    "x-source-offset",
    "x-source-timestamp",
    (decimal, decimal, lambda value: times.iso(text(value))),
)
_ENDPOINT = "x-source-endpoint"
"""Of 3.0, which named no topic."""
_NOT_ORIGINAL = "Its producer may have written the value anew."


def read(found: Found) -> Reading:
    reason = text(found.last(_REASON))
    return found.reading(
        _SOURCE.only(found) or Position(text(found.last(_ENDPOINT)) or "", None, None),
        consumer_group=text(found.last(_GROUP)),
        attempts=decimal(found.last(_ATTEMPTS)),
        not_original=_NOT_ORIGINAL,
        why=causes.why([reason.partition(" in ")[0] or None if reason else None], reason),
    )


FAMILY = Family(
    "silverback",
    read,
    headers=(
        _REASON,
        _ATTEMPTS,
        "x-source-topic",
        _ENDPOINT,
        "x-source-partition",
        "x-source-offset",
        "x-source-timestamp",
        _GROUP,
    ),
    signature=lambda given: _REASON in given and not given.isdisjoint((_SOURCE.topic, _ENDPOINT)),
    oldest=_SOURCE.only,
)
