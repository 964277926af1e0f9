"""Keeping a block within 32 KiB: stack traces are cut first, then other texts, then evidence, then the oldest tries."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from parking.attempt import Attempt, ValidationError
from parking.record import Headers
from parking.wire.block import LARGEST, size

Evidence = Mapping[str, Any] | None
_LONGEST = (16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, 128, 0)


def fit_attempts(
    attempts: tuple[Attempt, ...], evidence: Evidence, block: Callable[[tuple[Attempt, ...], Evidence], Headers]
) -> Headers:
    """The block that `block` makes of the attempts and the evidence, or of what had to be cut from them."""
    built: Headers = ()
    for tries, why in _shorter_and_shorter(attempts, evidence):
        if sum(map(_characters, tries)) > LARGEST:
            continue
        built = block(tries, why)
        if size(built) <= LARGEST:
            break
    return built


def _shorter_and_shorter(
    attempts: tuple[Attempt, ...], evidence: Evidence
) -> Iterator[tuple[tuple[Attempt, ...], Evidence]]:
    yield attempts, evidence
    for longest in _LONGEST:
        tries = tuple(replace(a, stacktrace=cut(a.stacktrace, longest)) for a in attempts)
        yield tries, evidence
    for longest in _LONGEST[3:-1]:
        tries = tuple(_shortened(a, longest) for a in attempts)
        yield tries, evidence
    why = {"cut": "the evidence did not fit beside the attempts"} if evidence else None
    while tries:
        yield tries, why
        tries = tries[(len(tries) + 1) // 2 :]
    yield (), why


def _characters(attempt: Attempt) -> int:
    errors = (len(f"{e.path}{e.expected}{e.actual}{e.hint}") for e in attempt.validation_errors)
    return len(attempt.error_type) + len(attempt.message) + len(attempt.stacktrace) + sum(errors)


def cut(text: str, longest: int) -> str:
    """At most about `longest` characters of `text`, its beginning, and a last line that says how many are missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[cut: {len(text) - longest} more characters]".lstrip("\n")


def _shortened(attempt: Attempt, longest: int) -> Attempt:
    errors = tuple(
        ValidationError(*(cut(str(text), longest) for text in (e.path, e.expected, e.actual, e.hint)))
        for e in attempt.validation_errors[:20]
    )
    return replace(
        attempt,
        error_type=cut(attempt.error_type, longest),
        message=cut(attempt.message, longest),
        stacktrace=cut(attempt.stacktrace, 0),
        validation_errors=errors,
    )
