"""Rows that many tests start from: made once, in a transaction around that of each test.

Making them takes longer than most tests of a page. When they are old they are made anew for the next test: what a page
says of times ("3 h 12 min") goes by the clock.
"""

import copy
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

T = TypeVar("T")

OLD = 15.0
"""Seconds."""


class Shared(Generic[T]):
    """What `make` makes, as long as no test that must not see its rows is next."""

    def __init__(self, make: Callable[[], T], blocker: DjangoDbBlocker) -> None:
        self._make = make
        self._blocker = blocker
        self._made: T | None = None
        self._around = transaction.atomic()
        self._at = 0.0

    def prepare(self) -> None:
        """To be called before the transaction of the test begins."""
        if time.monotonic() - self._at > OLD:
            self.drop()
        if self._made is None:
            self._at = time.monotonic()
            with self._blocker.unblock():
                self._begin()

    def copy(self) -> T:
        """Objects of the test's own: it may change them."""
        assert self._made is not None
        return copy.deepcopy(self._made)

    def drop(self) -> None:
        """The rows are gone. Not to be called within the transaction of a test."""
        if self._made is not None:
            self._made = None
            with self._blocker.unblock():
                self._roll_back()

    def _begin(self) -> None:
        self._around = transaction.atomic()
        self._around._from_testcase = True  # type: ignore[attr-defined]  # as in Django's TestCase: what has to be outermost may be inside
        self._around.__enter__()
        try:
            self._made = self._make()
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        transaction.set_rollback(True)
        self._around.__exit__(None, None, None)
