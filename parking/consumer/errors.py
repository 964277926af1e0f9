"""What a handler raises to say more than "it failed", and what stops the kit itself for a while."""

from collections.abc import Iterable, Mapping
from typing import Any

from parking.attempt import ValidationError

LONGEST_WAIT = 86_400.0


class Poison(Exception):
    """Raised by a handler: this event will never succeed as it is. It is parked at once, without further tries.

    `error_type` names the kind of failure (the exception's own name by default), `validation_errors` say where the
    event is wrong and what to do, `evidence` says what the decision was based on (model, prompt, trace ids).
    """

    error_type: str | None = None
    validation_errors: tuple[ValidationError, ...] = ()
    evidence: Mapping[str, Any] | None = None

    def __init__(
        self,
        message: str,
        *,
        error_type: str | None = None,
        validation_errors: Iterable[ValidationError] = (),
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.error_type = error_type or type(self).__name__
        self.validation_errors = tuple(validation_errors)
        if not all(isinstance(error, ValidationError) for error in self.validation_errors):
            raise TypeError("validation_errors: expected ValidationError(path, expected, actual, hint)")
        self.evidence = evidence


class Invalid(Poison):
    """Raised by a handler or a validator: these validation errors keep the event from ever succeeding as it is."""

    def __init__(
        self,
        validation_errors: Iterable[ValidationError],
        message: str = "",
        *,
        error_type: str | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        errors = tuple(validation_errors)
        count = "1 validation error" if len(errors) == 1 else f"{len(errors)} validation errors"
        super().__init__(message or count, error_type=error_type, validation_errors=errors, evidence=evidence)


class RateLimited(Exception):
    """Raised by a handler: not now. The event waits `retry_after` seconds (at most a day), keeps its place and spends
    no attempt. So does every event that needs the same dependency: the one that is named here (nobody else needs one
    that is not declared), by default the first one that the event needs, or else the whole flow.
    """

    dependency: str | None = None
    retry_after: float = 0.0

    def __init__(self, retry_after: float, message: str = "rate limited", *, dependency: str | None = None) -> None:
        super().__init__(message)
        self.dependency = dependency
        self.retry_after = min(float(retry_after), LONGEST_WAIT) if retry_after > 0 else 0.0


class Unavailable(Exception):
    """Ledger or broker cannot be used now. The message is one line that says what to do; the kit tries again."""


class Refused(Unavailable):
    """The topic does not take this very record, whatever it does with others."""


class Interrupted(Exception):
    """The event was given up unfinished: the consumer stops or lost the partition. Somebody else takes it up."""


class Cancelled(Exception):
    """The handler ended by asyncio's CancelledError, which is no Exception: somebody cancelled what it waited for."""
