"""Running the handler: how often, with which waits, and what is kept of each failed try."""

import inspect
import traceback
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from parking.attempt import Attempt
from parking.consumer.ask import Ask, Call, Handle
from parking.consumer.budget import Budget
from parking.consumer.dependency import Dependencies, Dependency, Doubt, judge, wait
from parking.consumer.effect import Effect, Write, effect
from parking.consumer.errors import Poison, RateLimited
from parking.consumer.event import Event
from parking.consumer.evidence import noting, together, traces
from parking.consumer.insist import Insist
from parking.consumer.step import Step, Work
from parking.consumer.suspects import most
from parking.consumer.trial import Trial
from parking.wire.fit import cut

Returned = Effect | Write | None
Handler = Callable[[Event], Returned]
AnyHandler = Handler | Callable[[Event], Awaitable[Returned]]
KIT = str(Path(__file__).parent)
PROCESS_ENDED = "process-ended"
LONGEST_STACKTRACE = 16_384
LONGEST_MESSAGE = 4_096
SHORTEST = 0.05
"""Seconds that a rate limit makes an event wait at least, so that it does not spin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often an event is tried before it is parked, and how long between two tries, in seconds.

    The wait after a failed try is any time up to a limit that grows (full jitter), so that many events that failed
    together do not come back together. No try begins later than `budget` seconds after the first one failed; what it
    waits for others meanwhile (a rate limit, a dependency, a database) is not of these. Neither exhausted attempts nor
    the budget park an event while it is in doubt whether a dependency with a breaker is away, within the patience of
    that dependency with an event.
    Exceptions of the kinds `never` will not succeed when tried again; they park the event at once, as Poison does.
    """

    attempts: int = 3
    first_wait: float = 0.5
    factor: float = 2.0
    longest_wait: float = 30.0
    budget: float = float("inf")
    never: tuple[type[Exception], ...] = ()

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts: expected at least 1, arrived {self.attempts}")

    def longest(self, failed: int) -> float:
        """The most seconds to wait after that many failed tries."""
        return min(self.first_wait * self.factor ** min(failed - 1, 64), self.longest_wait)

    def hopeless(self, error: Exception) -> bool:
        """Whether another try makes no sense."""
        return isinstance(error, (Poison, *self.never))


class Trying:
    """How the handler of one flow is run: until it succeeds, will never succeed, or may not be tried any more."""

    def __init__(
        self,
        handler: AnyHandler,
        *,
        retries: Retries,
        dependencies: Dependencies,
        insist: Insist,
        now_ms: Callable[[], int],
        chance: Callable[[], float],
        limited: Callable[[Event], None],
    ) -> None:
        self.handler = handler
        self._retries = retries
        self._dependencies = dependencies
        self._insist = insist
        self._now_ms = now_ms
        self._chance = chance
        self._limited = limited

    def decide(self, work: Work, trial: Trial) -> Generator[Ask, Any, Step]:
        """The part of a course from a handler that has to decide to the answer of the commit gate.

        A try counts when the handler or its write raises. Being rate limited, held up by a dependency that is known to
        be away, or without a database does not. Those that were begun and never ended count. Exhausted attempts park
        nothing while it is in doubt whether a dependency is away: either its breaker opens, or it works for others.
        """
        tries = self._ended(work, (yield from trial.begin()))
        if len(tries) >= most(self._retries.attempts):
            return (yield from self._insist.ask(Call(partial(work.failed, tries, None))))  # type: ignore[no-any-return]
        budget = Budget(self._retries.budget, self._now_ms, failed=bool(tries))
        held_up = partial(self._held_up, trial, budget)
        doubt = Doubt()
        while True:
            event = replace(work.event, attempt=work.event.attempt + len(tries))
            needed: list[Dependency] = []
            noted = traces(event)
            budget.begin()
            try:
                needed = yield from self._needed(event)
                while (seconds := wait(needed, event.event_id, self._now())) > 0:
                    yield from trial.pause(seconds)
                    needed = yield from self._needed(event)
                yield from trial.begin()
                budget.begin()
                handle = Handle(partial(noting, self.handler, event, noted))
                returned = yield from self._insist.ask(handle, held_up)
                decided = effect(returned)
                decided = replace(decided, evidence=together(noted, decided.evidence))
                step: Step = yield from self._insist.ask(Call(partial(work.applied, decided)), held_up)
            except RateLimited as limit:
                yield Call(partial(self._limited, event))
                judge(needed, event.event_id, limit, self._now())
                self._dependencies.limited(needed, limit, self._now())
                yield from trial.pause(max(limit.retry_after, SHORTEST))
            except Exception as error:  # noqa: BLE001 -- whatever a handler raises is a failed try
                if judge(needed, event.event_id, error, self._now()):
                    continue  # the dependency is away: the event waits until it is back
                tries.append(failed_try(event.attempt, error, self._now_ms(), self._retries))
                in_doubt = doubt.remains(needed, event.event_id, error)
                if (pause := self._next(tries, error, budget, in_doubt=in_doubt)) is None:
                    evidence = together(noted, error.evidence if isinstance(error, Poison) else None)
                    parked: Step = yield from self._insist.ask(Call(partial(work.failed, tries, evidence)))
                    return parked
                yield from trial.pause(pause)
            else:
                judge(needed, event.event_id, None, self._now())
                return step

    def _needed(self, event: Event) -> Generator[Ask, Any, list[Dependency]]:
        """What the event needs. Whoever says so may look into a database: that holds up no event loop."""
        needed = partial(self._dependencies.needed, event)
        if not self._dependencies.declared:
            return needed()
        return (yield from self._insist.ask(Call(needed)))  # type: ignore[no-any-return]

    def _ended(self, work: Work, number: int) -> list[Attempt]:
        """So many tries of which nothing is known but that the process ended meanwhile."""
        first, at = work.event.attempt, self._now_ms()
        return [
            Attempt(first + n, at, PROCESS_ENDED, "the process ended while it handled this event")
            for n in range(number)
        ]

    def _held_up(self, trial: Trial, budget: Budget, seconds: float) -> Generator[Ask, Any, None]:
        """What a try needs is away: it waits, and then begins anew."""
        yield from trial.pause(seconds)
        yield from trial.begin()
        budget.begin()

    def _next(self, tries: Sequence[Attempt], error: Exception, budget: Budget, *, in_doubt: bool) -> float | None:
        """Seconds until the next try; None where there is none."""
        exhausted = len(tries) >= self._retries.attempts
        if self._retries.hopeless(error) or (exhausted and not in_doubt):
            return None
        seconds = self._chance() * self._retries.longest(len(tries))
        return seconds if budget.spend(seconds) or in_doubt else None

    def _now(self) -> float:
        return self._now_ms() / 1000


def is_async(handler: object) -> bool:
    """Whether calling the handler gives a coroutine."""
    return any(map(inspect.iscoroutinefunction, (handler, inspect.getattr_static(type(handler), "__call__", None))))


def failed_try(number: int, error: Exception, at_ms: int, retries: Retries) -> Attempt:
    """What is kept of a try that raised `error`."""
    poison = error if isinstance(error, Poison) else None
    return Attempt(
        number=number,
        at=at_ms,
        error_type=str(poison.error_type) if poison else _name(type(error)),
        message=cut(_said(error), LONGEST_MESSAGE),
        stacktrace=_stacktrace(error),
        validation_errors=poison.validation_errors if poison else (),
        retryable=not retries.hopeless(error),
    )


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 -- an error of a handler's own making may not even say what it is
        return "the error's own text cannot be read"


def _name(kind: type[BaseException]) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _stacktrace(error: Exception) -> str:
    """The stack from where it leaves the kit, whose own part is the same every time."""
    frames = error.__traceback__
    while frames and frames.tb_next and frames.tb_frame.f_code.co_filename.startswith(KIT):
        frames = frames.tb_next
    return cut("".join(traceback.format_exception(type(error), error, frames)), LONGEST_STACKTRACE)
