"""A dead letter of which only the name of its topic says that it is one (dlq formats, §7 and §10).

Kafka Connect without context headers (its default), Karafka without Pro, a binder with `headerMode=none`: key, value
and headers are those of the source, and nothing says who failed, where or why. What does seem to say something, in a
form that no dialect knows, is never sent unasked: its value may be an envelope, its headers a failure's.
"""

import re

from parking.dialects import topics
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.record import Record

_TELLING = re.compile(
    r"(?i)error|exception|dlq|dead.?letter|poison|fail(?:ure|ed)|fault|reject"
    r"|(?:original|source|kafka)[-_.](?:topic|partition|offset)|^__(?:topic|partition|offset)$"
)
_ENVELOPE = re.compile(
    rb'"(?:original_\w+|KafkaBatchInfo|raw_value|error_reason|deserializationError)"\s*:|"logger"\s*:\s*"processing\.'
)
_LOOKED_AT = 64 * 1024
_NOT_ORIGINAL = "What its producer says of a failure, in a form that is not known, would be sent as well."


def read(found: Found) -> Reading:
    return found.reading(not_original=_NOT_ORIGINAL if _says_something(found.record) else "")


def _is_one(record: Record) -> bool:
    return topics.is_dead_letter(record.topic)


FAMILY = Family("unnamed", read, asks=_is_one)


def _says_something(record: Record) -> bool:
    if any(_TELLING.search(name) for name, _ in record.headers):
        return True
    value = record.value or b""
    return value[:1] == b"{" and _ENVELOPE.search(value[:_LOOKED_AT]) is not None
