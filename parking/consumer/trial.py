"""The tries of one event as they go on; of a suspect, each is recorded before it begins."""

from collections.abc import Generator
from functools import partial
from typing import Any

from parking.consumer.ask import Ask, Call, Wait
from parking.consumer.event import Event
from parking.consumer.insist import Insist
from parking.consumer.schedule import Place
from parking.consumer.suspects import Suspects

LOOK_AGAIN = 0.1
"""Seconds after which a suspect looks again whether another one is through."""


class Trial:
    """The tries of an event that nobody suspects."""

    def begin(self) -> Generator[Ask, Any, int]:
        """A try begins. How many before it were begun and never ended."""
        yield from ()
        return 0

    def pause(self, seconds: float) -> Generator[Ask, Any, None]:
        """The event is not tried for so long."""
        yield Wait(seconds)


class Suspicious(Trial):
    """The tries of an event that may have ended a process: one that ends this one, too, will be known as an attempt.

    While the event waits it ends nothing, and is not recorded.
    """

    def __init__(self, suspects: Suspects, event: Event, place: Place, insist: Insist) -> None:
        self._suspects = suspects
        self._event = event
        self._place = place
        self._insist = insist
        self._begun: int | None = None

    def begin(self) -> Generator[Ask, Any, int]:
        while self._begun is None:
            begin = partial(self._suspects.begin, self._event, self._place)
            self._begun = yield from self._insist.ask(Call(begin))
            if self._begun is None:
                yield Wait(LOOK_AGAIN)
        return self._begun

    def pause(self, seconds: float) -> Generator[Ask, Any, None]:
        if self._begun is not None:
            yield from self._insist.ask(Call(partial(self._suspects.rest, self._event)))
            self._begun = None
        yield Wait(seconds)

    def end(self) -> Generator[Ask, Any, None]:
        """The event is decided."""
        yield from self._insist.ask(Call(partial(self._suspects.end, self._event)))

    def leave(self) -> None:
        """The event is not being tried any more, whatever became of it."""
        self._suspects.leave(self._event)
