"""A moment as a sentence names it."""

from datetime import datetime

from django.utils import timezone


def said(at: datetime | None) -> str:
    """`2026-11-30 14:22:07 Europe/Berlin`: in the viewer's zone on a page, elsewhere in the installation's."""
    if at is None:
        return "an unknown time"
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S} {timezone.get_current_timezone_name()}"
