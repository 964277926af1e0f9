"""Trying again while ledger or broker are unavailable, and saying so once."""

import logging
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from parking.consumer.ask import Ask, Call, Course, Handle, Waiting, advance, just_wait
from parking.consumer.errors import Interrupted, Unavailable

T = TypeVar("T")
log = logging.getLogger("parking.consumer")


class Insist:
    """Asks until it works. The first failure of a kind is one line in the log, and so is the recovery.

    Shared by all records that may meet the same trouble at once. Safe for threads.
    """

    def __init__(self, *, first: float = 0.2, longest: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._said = ""
        self._lock = threading.Lock()

    def ask(self, what: Call | Handle, waiting: Waiting = just_wait) -> Generator[Ask, Any, Any]:
        """The part of a course that gives what `what` answers, once it does."""
        pause, failed = self._first, False
        while True:
            try:
                answer = yield what
            except Unavailable as error:
                failed = True
                self._trouble(str(error))
                yield from waiting(pause)
                pause = min(pause * 2, self._longest)
            else:
                if failed:
                    self._works()
                return answer

    def until_it_works(self, call: Callable[[], T], wait: Callable[[float], None]) -> T:
        """What `call` returns once it does. `wait` sleeps, and may raise Interrupted."""
        answers: list[T] = []

        def course() -> Course:
            answers.append((yield from self.ask(Call(call))))

        running = course()
        while (pause := advance(running)) is not None:
            wait(pause.seconds)
        return answers[0]

    def _trouble(self, line: str) -> None:
        with self._lock:
            new, self._said = line != self._said, line
        if new:
            log.error("%s; trying again", line)

    def _works(self) -> None:
        with self._lock:
            said, self._said = self._said, ""
        if said:
            log.warning("works again: %s", said.partition(":")[0])


def survive(call: Callable[[], T]) -> T:
    """What `call` returns. Raises Unavailable for whatever it raises: a thread goes on that would end in silence."""
    try:
        return call()
    except (Interrupted, Unavailable):
        raise
    except Exception as error:
        raise Unavailable(f"unexpected: {type(error).__name__}: {error}") from error
