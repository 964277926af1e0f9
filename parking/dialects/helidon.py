"""Helidon Messaging (dlq formats, §3.8): text headers behind those that were consumed, a set more with each failure.

The older API tells class and text, the newer one the channel and the attempts instead.
"""

from functools import partial

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import decimal, text

_SOURCE = origin.named("dlq-orig-", timed=True)
_NEWER = "helidon_messaging_dead_letter_"


def read(found: Found) -> Reading:
    value = partial(found.behind, found.layout.before)
    channel = text(value(f"{_NEWER}source_channel"))
    return found.reading(
        _SOURCE.newest(found),
        attempts=decimal(value(f"{_NEWER}attempts")),
        component=f"channel {channel}" if channel else None,
        why=java.why(
            [text(value("dlq-error")) or text(value(f"{_NEWER}failure_type"))],
            text(value("dlq-error-msg")) or text(value(f"{_NEWER}failure_message")),
            None,
        ),
    )


FAMILY = Family(
    "helidon",
    read,
    headers=("dlq-error", "dlq-error-msg", "dlq-orig-*", f"{_NEWER}*"),
    also=("topic",),
    begins=(_SOURCE.topic,),
    signature=lambda given: _SOURCE.topic in given,
    oldest=_SOURCE.first,
)
