"""What the course of a record asks of whoever drives it: a thread, an event loop, or a test with a clock of its own."""

from asyncio import CancelledError
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from parking.consumer.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Call:
    """Call this, which talks to the ledger or to Kafka and may block, and go on with what it returns or raises."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Handle:
    """Call the service's handler, which may take long or be a coroutine; go on with what it returns or raises."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on after so many seconds; meanwhile the record keeps its place and needs nobody."""

    seconds: float


Ask = Call | Handle | Wait

Waiting = Callable[[float], Generator[Ask, Any, None]]
"""The part of a course that waits so many seconds."""

Course = Generator[Ask, Any, None]
"""The way of one record. When it ends, the offset may move past the record."""


def just_wait(seconds: float) -> Generator[Ask, Any, None]:
    """The simplest way of waiting."""
    yield Wait(seconds)


def advance(course: Course) -> Wait | None:
    """Carry a record on in this thread until it has to wait, or None if it is behind us."""
    try:
        ask = next(course)
        while not isinstance(ask, Wait):
            try:
                answer = ask.call()
            except CancelledError as error:
                ask = course.throw(cancelled(ask, error))
            except Exception as error:  # noqa: BLE001 -- whatever it is, the course decides
                ask = course.throw(error)
            else:
                ask = course.send(answer)
    except StopIteration:
        return None
    return ask


def cancelled(ask: Call | Handle, error: CancelledError) -> BaseException:
    """What the course hears of it: nobody but a handler cancels a handler, and that is a failed try like any other."""
    if isinstance(ask, Call):
        return error
    told = Cancelled("something that the handler waited for was cancelled")
    told.__cause__ = error
    return told
