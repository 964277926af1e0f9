"""Running the handler: how often, with which waits, and what is kept of each failed try."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from parking.attempt import Attempt
from parking.consumer.effect import Effect, Write, effect
from parking.consumer.errors import Interrupted, Poison, RateLimited
from parking.consumer.event import Event
from parking.consumer.insist import Insist
from parking.consumer.step import Step, Work
from parking.wire.fit import cut

Handler = Callable[[Event], "Effect | Write | None"]
KIT = str(Path(__file__).parent)
LONGEST_STACKTRACE = 16_384
LONGEST_MESSAGE = 4_096


@dataclass(frozen=True, slots=True)
class Retries:
    """How often an event is tried before it is parked, and how long between two tries, in seconds."""

    attempts: int = 3
    first_wait: float = 0.5
    factor: float = 2.0
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts: expected at least 1, arrived {self.attempts}")

    def wait(self, failed: int) -> float:
        """Seconds to wait after that many failed tries."""
        return min(self.first_wait * self.factor ** min(failed - 1, 64), self.longest_wait)


def decide(
    work: Work,
    handler: Handler,
    *,
    retries: Retries,
    wait: Callable[[float], None],
    now_ms: Callable[[], int],
    insist: Insist,
) -> Step:
    """Run the handler until it succeeds, will never succeed or has used up its attempts; then through the commit gate.

    `wait` sleeps for so many seconds, or raises Interrupted; `insist` calls the gate again while it is Unavailable.
    A try counts when the handler or its write raises; being rate limited or without a database does not.
    """
    tries: list[Attempt] = []
    while True:
        event = replace(work.event, attempt=work.event.attempt + len(tries))
        try:
            decided = insist(lambda: effect(handler(event)))  # noqa: B023 -- called at once
            return insist(lambda: work.applied(decided))  # noqa: B023
        except RateLimited as limit:
            wait(max(limit.retry_after, 0.05))
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever a handler raises is a failed try
            tries.append(failed_try(event.attempt, error, now_ms()))
            if isinstance(error, Poison) or len(tries) >= retries.attempts:
                evidence = error.evidence if isinstance(error, Poison) else None
                return insist(lambda: work.failed(tries, evidence))  # noqa: B023
            wait(retries.wait(len(tries)))


def failed_try(number: int, error: Exception, at_ms: int) -> Attempt:
    """What is kept of a try that raised `error`."""
    poison = error if isinstance(error, Poison) else None
    return Attempt(
        number=number,
        at=at_ms,
        error_type=str(poison.error_type) if poison else _name(type(error)),
        message=cut(_said(error), LONGEST_MESSAGE),
        stacktrace=_stacktrace(error),
        validation_errors=poison.validation_errors if poison else (),
        retryable=poison is None,
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
