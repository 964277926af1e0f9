"""Symfony Messenger, PHP, with a Kafka transport (dlq formats, §5): stamps of an envelope, a JSON list in each header.

The last element is the newest. Every message has stamps; those of a failure are the three that are read here.
"""

import json
from typing import Any

from parking.dialects import causes, json_members, times, topics
from parking.dialects.family import Family, Found
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.record import INT64

_PREFIX = "X-Message-Stamp-Symfony\\Component\\Messenger\\Stamp\\"
_DETAILS, _REDELIVERY, _FAILED = (
    f"{_PREFIX}{name}Stamp" for name in ("ErrorDetails", "Redelivery", "SentToFailureTransport")
)
_DELAY = f"{_PREFIX}DelayStamp"
_LONGEST = 1024 * 1024


def read(found: Found) -> Reading:
    record = found.record
    details, again, failed = (_newest(found.last(name)) for name in (_DETAILS, _REDELIVERY, _FAILED))
    retries = json_members.number(again.get("retryCount"))
    waits = not found.has(_FAILED) and topics.is_retry(record.topic)
    named, message = (json_members.text(details.get(f"exception{name}")) for name in ("Class", "Message"))
    return found.reading(
        kind=RETRY_PENDING if waits else DEAD_LETTER,
        attempts=None if retries is None else retries + 1,
        due_at_ms=_due(found) if waits else None,
        failed_at_ms=times.iso(json_members.text(again.get("redeliveredAt"))),
        component=json_members.text(failed.get("originalReceiverName")),
        why=causes.why([named], message),
    )


def _due(found: Found) -> int | None:
    """It waits for as many milliseconds as its newest delay says."""
    delay, at = json_members.number(_newest(found.last(_DELAY)).get("delay")), found.record.timestamp_ms
    return None if delay is None or at < 0 else min(at + delay, INT64 - 1)


def _newest(value: bytes | None) -> dict[str, Any]:
    """The last element of the list; empty where it is none."""
    try:
        stamps = json.loads(value) if value and len(value) < _LONGEST else None
    except (ValueError, RecursionError):
        return {}
    last = stamps[-1] if isinstance(stamps, list) and stamps else None
    return last if isinstance(last, dict) else {}


FAMILY = Family("symfony-messenger", read, headers=(_DETAILS, _REDELIVERY, _FAILED), also=(_DELAY,))
