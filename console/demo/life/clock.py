"""The time of the history, in this process alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone


class Clock:
    """Tells the time that it was set to last; it never goes back."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def set(self, now: datetime) -> None:
        self.now = max(self.now, now)


@contextmanager
def ruling(clock: Clock) -> Iterator[None]:
    """Everything asks `django.utils.timezone.now`: meanwhile it answers with the clock's time."""
    real = timezone.now
    timezone.now = lambda: clock.now
    try:
        yield
    finally:
        timezone.now = real
