"""Confluent data contracts, the DLQ action of a rule (dlq formats, §3.8): text headers, one set.

A rule on WRITE failed in the producer: the record never reached its topic. `__rule.name` would switch the rule off.
"""

from parking.dialects import java, origin
from parking.dialects.family import Family, Found
from parking.dialects.reading import Reading
from parking.dialects.values import text

_NOT_ORIGINAL = (
    "The rule failed in the event's producer, which wrote its value as plain JSON: it never was on its topic."
)


def read(found: Found) -> Reading:
    value = found.own
    name, subject, mode, topic = (text(value(f"__rule.{part}")) for part in ("name", "subject", "mode", "topic"))
    parts = [f"{word} {part}" for word, part in (("rule", name), ("subject", subject)) if part]
    return found.reading(
        origin.Position(topic or "", None, None),
        component=" ".join(parts) or None,
        stage=mode,
        not_original=_NOT_ORIGINAL if mode == "WRITE" else "",
        why=java.why([], text(value("__rule.exception")), None),
    )


FAMILY = Family("data-contract", read, headers=("__rule.*",))
