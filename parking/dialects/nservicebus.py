"""NServiceBus, .NET, which reaches Kafka through a bridge (dlq formats, §4): text headers.

`Retries` counts rounds of delayed retries, each of several tries: it is not the number of attempts.
"""

from parking.dialects import causes, times
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.dialects.values import text

_PREFIX = "NServiceBus."
_QUEUE, _AT, _ENDPOINT = f"{_PREFIX}FailedQ", f"{_PREFIX}TimeOfFailure", f"{_PREFIX}ProcessingEndpoint"
_CLASS, _MESSAGE, _STACKTRACE = (
    f"{_PREFIX}ExceptionInfo.{name}" for name in ("ExceptionType", "Message", "StackTrace")
)


def read(found: Found) -> Reading:
    value = found.last
    error_class = text(value(_CLASS))
    return found.reading(
        Position(text(value(_QUEUE)) or "", None, None),
        failed_at_ms=times.iso(text(value(_AT))),
        component=text(value(_ENDPOINT)),
        why=causes.why([error_class], text(value(_MESSAGE)), text(value(_STACKTRACE)), outer=error_class),
    )


FAMILY = Family(
    "nservicebus",
    read,
    headers=(_QUEUE, _AT, f"{_PREFIX}ExceptionInfo.*"),
    also=(f"{_PREFIX}Retries", f"{_PREFIX}Retries.Timestamp", _ENDPOINT),
    signature=lambda given: _QUEUE in given,
)
