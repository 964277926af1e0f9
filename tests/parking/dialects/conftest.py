"""What the tests of dialects share."""

import time
from contextlib import contextmanager

import pytest


@pytest.fixture
def within():
    """A context that fails if what is in it takes more seconds of the processor than that."""

    @contextmanager
    def seconds_of(seconds):
        began = time.thread_time()
        yield
        assert time.thread_time() - began < seconds

    return seconds_of
