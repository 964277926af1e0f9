"""CAP, .NET (dlq formats, §4): one header, `<Type>--><message>`. Its failures live in its database, rarely on Kafka."""

from parking.dialects import causes
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import text

_EXCEPTION, _SEPARATOR = "cap-exception", "-->"


def read(found: Found) -> Reading:
    told = text(found.last(_EXCEPTION))
    error_class = told.partition(_SEPARATOR)[0] if told and _SEPARATOR in told else None
    return found.reading(why=causes.why([error_class], told))


FAMILY = Family("cap", read, headers=(_EXCEPTION,))
