"""What an answer means for a delivery: it has arrived, it never will, or it is tried again. Pure."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from http import HTTPStatus

FIRST, LONGEST = 5.0, 600.0
LONGEST_WISH = 3600.0
# 4xx that say "not now": RFC 9110 section 15.5.9, RFC 8470, RFC 6585.
NOT_NOW = (408, 425, 429)


class Fate(Enum):
    DELIVERED = "delivered"
    FAILED = "failed"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`text` is for people. `wait` is how many seconds the receiver wants to be left alone, where it says so."""

    fate: Fate
    text: str
    status: int | None = None
    wait: float | None = None


def of_answer(status: int, headers: Mapping[str, str], now: datetime) -> Verdict:
    """What an HTTP answer means. `headers` have lower-case names; only status and Retry-After count."""
    text = f"{status} {_phrase(status)}".strip()
    if 200 <= status < 300:
        return Verdict(Fate.DELIVERED, text, status)
    if 300 <= status < 400:
        return Verdict(Fate.FAILED, f"{text}: redirects are not followed; give the hook the final address", status)
    if status in NOT_NOW or status >= 500:
        return Verdict(Fate.AGAIN, text, status, retry_after(headers.get("retry-after", ""), now))
    return Verdict(Fate.FAILED, f"{text}: the receiver does not want it; correct the hook's address there", status)


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds that a Retry-After field asks for, 1 to 3600 (RFC 9110 section 10.2.3); None where it says nothing."""
    text = value.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        seconds = float(text)
    else:
        try:
            at = parsedate_to_datetime(text)
            seconds = (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds()
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 1.0), LONGEST_WISH)


def backoff(tries: int, chance: float | None = None) -> float:
    """Seconds until the next try: 5, 10, 20 … at most 600, and of that a random half up to the whole."""
    whole: float = min(LONGEST, FIRST * 2 ** min(max(tries - 1, 0), 20))
    return whole * (0.5 + (random.random() if chance is None else chance) / 2)  # noqa: S311  (spreads load, no secret)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
