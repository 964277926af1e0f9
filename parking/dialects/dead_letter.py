"""What the readings of all families that are no Java library have alike, put together."""

from collections.abc import Callable, Mapping
from typing import Any

from parking.dialects import identity, origin
from parking.dialects.reading import DEAD_LETTER, Reading
from parking.record import Headers, Record

NOWHERE = origin.Position("", None, None)
"""The source of a family that does not name it."""

_TOGETHER: dict[str, Any] = {"kind": DEAD_LETTER, "payload_missing": False}


def of(
    framework: str,
    record: Record,
    failure_header: Callable[[str], bool],
    source: origin.Position,
    why: Mapping[str, Any],
    *,
    headers: Headers | None = None,
    **members: Any,
) -> Reading:
    """The reading. `why` comes from `causes.fields`; `members` are whatever else the record says.

    `headers` are those that the consumer had been given, where they are not the record's own without the failure's.
    """
    if headers is None:
        headers = without(record.headers, failure_header)
    oldest = origin.oldest(record.headers)
    return Reading(
        framework=framework,
        event_id=identity.of(record, headers, oldest),
        token=identity.token(record),
        original_headers=headers,
        **origin.fields(source, oldest),
        **why,
        **{**_TOGETHER, **members},
    )


def without(headers: Headers, failure_header: Callable[[str], bool]) -> Headers:
    """The headers without those of the failure and those that a replay of ours adds."""
    return tuple(one for one in headers if not failure_header(one[0]) and one[0] not in identity.CARRIED)
