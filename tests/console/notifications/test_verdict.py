"""What an answer means, and when it is tried again."""

from datetime import UTC, datetime

import pytest

from console.notifications import verdict
from console.notifications.verdict import Fate

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        *[(status, Fate.DELIVERED) for status in (200, 202, 204, 299)],
        *[(status, Fate.FAILED) for status in (301, 302, 307, 308, 400, 401, 403, 404, 410, 413, 422, 451)],
        *[(status, Fate.AGAIN) for status in (408, 425, 429, 500, 502, 503, 504, 599)],
    ],
)
def test_fate_of_a_status(status, fate):
    got = verdict.of_answer(status, {}, NOW)
    assert (got.fate, got.status) == (fate, status)
    assert got.text.startswith(str(status))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 1.0),
        ("99999", 3600.0),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 1.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("9" * 5000, None),
        ("Mon, 99 Nov 99999 12:01:00 GMT", None),
    ],
)
def test_retry_after(value, seconds):
    assert verdict.of_answer(429, {"retry-after": value}, NOW).wait == seconds


def test_the_waits_double_up_to_ten_minutes_and_are_scattered():
    assert [verdict.backoff(tries, chance=1.0) for tries in (1, 2, 3, 8, 9, 10**9)] == [5, 10, 20, 600, 600, 600]
    assert verdict.backoff(1, chance=0.0) == 2.5
    assert len({verdict.backoff(5) for _ in range(20)}) > 1
