"""kstreamplify (dlq formats, §3.8): the value is an Avro `KafkaError` around the event, from 1.8 on with its own bytes.

The class of the exception stands only in the stack's first line.
"""

import re
from typing import Any

from parking.dialects import java, registered
from parking.dialects.family import Family, Found
from parking.dialects.origin import Position
from parking.dialects.reading import Reading
from parking.record import Record

_BEFORE = {
    "cause": "?text", "contextMessage": "?text", "stack": "?text", "value": "?text", "byteValue": "?bytes",
    "offset": "number", "partition": "number", "topic": "text",
}  # fmt: skip
"""When it had another name: kafka-streams-init, spring-kafka-streams-avro."""
_FIRST = {**_BEFORE, "applicationId": "?text"}
_LATER = {**_FIRST, "processorNodeId": "?text", "taskId": "?text"}
_SINCE_1_8 = {**_LATER, "sourceRawKey": "?bytes", "sourceRawValue": "?bytes"}
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_AS_TEXT = "Its producer wrote the value as a text of its own."


def read(found: Found) -> Reading:
    record = found.record
    told = _told(record) or dict.fromkeys(_SINCE_1_8)
    (key, value), doubt = _content(record, told)
    source = Position(told["topic"] or "", registered.known(told["partition"]), registered.known(told["offset"]))
    why = java.why([], told["cause"] or None, told["stack"] or None)
    return found.reading(
        source,
        oldest=source,
        component=told.get("applicationId") or None,
        original_key=key if "sourceRawKey" in told else None,
        original_value=value,
        unwrapped=(key, value),
        not_original=doubt,
        why=why._replace(error_class=None),
    )


def _told(record: Record) -> dict[str, Any] | None:
    told = registered.read(record.value, _SINCE_1_8, _LATER, _FIRST, _BEFORE)
    sound = told is not None and _TOPIC.fullmatch(told["topic"]) and told["offset"] >= -1 and told["partition"] >= -1
    return told if sound else None


def _content(record: Record, told: dict[str, Any]) -> tuple[tuple[bytes | None, bytes | None], str]:
    """The event's key and value, and what to be careful with."""
    if "sourceRawKey" in told:
        return (told["sourceRawKey"], told["sourceRawValue"]), ""
    if told["byteValue"] is not None:
        return (record.key, told["byteValue"]), ""
    text = told["value"]
    return (record.key, None if text is None else text.encode()), "" if text is None else _AS_TEXT


FAMILY = Family("kstreamplify", read, asks=lambda record: _told(record) is not None)
