"""MassTransit, .NET (dlq formats, §4): `MT-*` headers that an application forwarded; the rider has no error topic.

Texts are raw, other types JSON; of a header that is there twice the first counts.
"""

from collections.abc import Callable

from parking.dialects import causes, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_FAULT, _REASON, _REDELIVERED = "MT-Fault-", "MT-Reason", "MT-Redelivery-Count"


def read(found: Found) -> Reading:
    said = _said(found.first)
    retries = decimal((said("RetryCount") or "").encode())
    return found.reading(
        Position((said("InputAddress") or "").partition("?")[0].rstrip("/").rpartition("/")[2], None, None),
        attempts=None if retries is None else retries + 1,
        failed_at_ms=times.iso(said("Timestamp")),
        component=said("ConsumerType"),
        why=causes.why([said("ExceptionType")], said("Message"), said("StackTrace")),
    )


FAMILY = Family("masstransit", read, headers=(f"{_FAULT}*", _REASON), also=(_REDELIVERED,))


def _said(value: Callable[[str], bytes | None]) -> Callable[[str], str | None]:
    def said(name: str) -> str | None:
        told = text(value(_FAULT + name))
        quoted = told is not None and len(told) > 1 and told[0] == told[-1] == '"' and name in _NO_TEXT
        return told[1:-1] if told and quoted else told

    return said


_NO_TEXT = ("RetryCount", "Timestamp", "InputAddress")
"""These are numbers, times and addresses in .NET, so their JSON may stand in quotes."""
