"""Waiting for what happens elsewhere, without a sleep that is either too short or too long."""

import time
from collections.abc import Callable


def wait_until(true: Callable[[], object], *, seconds: float = 120) -> None:
    """Returns when `true` says so; fails when it never does. Long: the machine may be busy, and it costs nothing."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not so after {seconds:.0f} s"
        time.sleep(0.05)
