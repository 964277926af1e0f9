"""Confluent's Connect Reporter, of its HTTP sink and others (dlq formats, §3.8 and §3.4): text, `null` for missing.

The value is the text of the error, not the event. Records on its topic of successes look alike.
"""

import json

from parking.dialects import java, origin
from parking.dialects.family import Family, Found, all_of
from parking.dialects.reading import DEAD_LETTER, UNKNOWN, Reading
from parking.dialects.values import text

_SOURCE = origin.named("input_record_", timed=True)
_MORE = ("error_message", "exception", "status_code", "reason_phrase", "response_content", "url", "payload")
_NOT_THERE = "It does not contain the event, only its place in the source topic."


def read(found: Found) -> Reading:
    record = found.record
    value, source = found.own, _SOURCE.own(found)
    message, exception = _said(value("error_message")), _said(value("exception"))
    failed = "success" not in record.topic.lower()
    classes = java.chain(exception)
    return found.reading(
        source if source.topic else None,
        kind=DEAD_LETTER if failed else UNKNOWN,
        not_original=_NOT_THERE,
        why=java.why(
            [],
            message or (_text(record.value) if failed else None),
            exception if classes else None,
        ),
    )


FAMILY = Family(
    "connect-reporter",
    read,
    headers=("input_record_*",),
    also=_MORE,
    signature=all_of(_SOURCE.topic, _SOURCE.offset),
    oldest=_SOURCE.only,
)


def _said(value: bytes | None) -> str | None:
    told = text(value)
    return None if told == "null" else told


def _text(value: bytes | None) -> str | None:
    """The value's text, which a JSON formatter has put in quotes."""
    told = text(value)
    if told is None or told[:1] != '"':
        return told
    try:
        parsed = json.loads(told)
    except ValueError:
        return told
    return parsed or None if isinstance(parsed, str) else told
