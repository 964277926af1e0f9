"""Whoever reads a time knows in which zone it is."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from parking.moment import said

NOON = datetime(2026, 11, 30, 12, 0, 7, tzinfo=UTC)


def test_a_moment_names_its_zone():
    assert said(NOON) == "2026-11-30 12:00:07 UTC"
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        assert said(NOON) == "2026-11-30 21:00:07 Asia/Tokyo"
    assert said(None) == "an unknown time"
