"""laravel-kafka, PHP (dlq formats, §5): class and message of the exception as text; nothing of where it came from."""

from parking.dialects import causes
from parking.dialects.family import Family, Found, any_of
from parking.dialects.reading import Reading
from parking.dialects.values import text

_PREFIX = "kafka_throwable_"


def read(found: Found) -> Reading:
    named, message = text(found.last(f"{_PREFIX}class_name")), text(found.last(f"{_PREFIX}message"))
    return found.reading(why=causes.why([named], message))


FAMILY = Family("laravel-kafka", read, headers=(f"{_PREFIX}*",), signature=any_of(f"{_PREFIX}class_name"))
