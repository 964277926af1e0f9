"""Rebus.Kafka, .NET (dlq formats, §4): one free text with counts, classes, messages and stacks in it."""

import re

from parking.dialects import causes
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_DETAILS, _QUEUE, _COUNT = "rbs2-error-details", "rbs2-source-queue", "rbs2-delivery-count"
_CLASS = re.compile(
    r"(?<![\w.+])((?:[A-Za-z_][\w`]{0,200}[.+]){1,20}[A-Za-z_][\w`]{0,200}(?:Exception|Error))(?=[:\s]|$)"
)
_LOOKED_AT = 10_000


def read(found: Found) -> Reading:
    value = found.last
    details = text(value(_DETAILS))
    return found.reading(
        Position(text(value(_QUEUE)) or "", None, None),
        attempts=decimal(value(_COUNT)),
        why=causes.why([_class(details)], details, details),
    )


FAMILY = Family(
    "rebus",
    read,
    headers=(_DETAILS,),
    also=(_QUEUE, _COUNT),
    signature=lambda given: _DETAILS in given,
)


def _class(details: str | None) -> str | None:
    found = _CLASS.search(details[:_LOOKED_AT]) if details else None
    return found[1] if found else None
