"""What an outcome means for a step (DESIGN section 4, "Answers are facts"). Pure: no database, no clock."""

from collections.abc import Mapping
from dataclasses import dataclass

FACTS = ("applied", "skipped")
NO_ATTEMPT = ("not-held", "out-of-order", "refused")
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """One outcome of the consumer. `fingerprint` 32 bytes or None; `detail` is what it adds in its own words."""

    id: int
    outcome: str
    token: int | None
    fate_token: int | None
    fingerprint: bytes | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state that a step gets, and why in words of the protocol; never anything of a payload."""

    state: str
    reason: str
    outcome_id: int


Fact = tuple[str, bytes | None]
"""A settled event as the console has it: its state and the fingerprint of what was applied or skipped."""


def judge(*, action: str, fingerprint: bytes, token: int, answer: Answer, known: Fact | None = None) -> Verdict | None:
    """The verdict for a sent step; None = not about it. `action`: apply, amend, skip or hold; `token`: the replay's.

    A fact counts whoever caused it: as planned by our own token, as planned by another one (`duplicate`), or not what
    was planned (`conflict`); to a hold record a fact is a `duplicate`, unless the console has `known` another one: a
    restored ledger may have obeyed what it had fenced before. Everything else counts only if it answers our own token.
    """
    if answer.outcome in FACTS:
        if action == "hold":
            return _known(answer, known)
        return _fact(action, fingerprint, token, answer)
    if answer.token != token:
        return None
    if answer.outcome in NO_ATTEMPT:
        return Verdict("failed", _words(answer.outcome, answer.detail), answer.id)
    if answer.outcome in ("failed", "fenced") or (answer.outcome == "held" and action == "hold"):
        return Verdict(answer.outcome, _words(answer.outcome, answer.detail), answer.id)
    return None


def _fact(action: str, fingerprint: bytes, token: int, answer: Answer) -> Verdict:
    planned = "skipped" if action == "skip" else "applied"
    by = _by(answer)
    if answer.outcome != planned:
        return Verdict("conflict", f"planned was {planned}, the consumer has it {answer.outcome} ({by})", answer.id)
    if answer.fingerprint != fingerprint:
        return Verdict("conflict", f"{answer.outcome} with other content than planned ({by})", answer.id)
    if answer.fate_token == token:
        return Verdict(planned, "", answer.id)
    return Verdict("duplicate", f"was {answer.outcome} before ({by})", answer.id)


def _known(answer: Answer, known: Fact | None) -> Verdict:
    if known is not None and known != (answer.outcome, answer.fingerprint):
        other = f"{known[0]} with other content" if known[0] == answer.outcome else known[0]
        return Verdict(
            "conflict", f"here it is {other}, the consumer has it {answer.outcome} ({_by(answer)})", answer.id
        )
    return Verdict("duplicate", f"was {answer.outcome} before ({_by(answer)})", answer.id)


def _by(answer: Answer) -> str:
    return "live" if answer.fate_token == 0 else f"under token {answer.fate_token}"


def _words(outcome: str, detail: str) -> str:
    return f"{outcome}: {detail[:LONGEST]}" if detail else outcome


def infer(
    *, action: str, parked_again: str | None, ends: Mapping[str, int] | None, read_to: Mapping[str, int]
) -> Verdict | None:
    """The verdict for a step whose consumer has no gate; None as long as nothing can be believed.

    `parked_again` is the error type under which the event came back since it was sent. `ends` is where the parking
    topics ended, by place, after the consumer's group had committed past the event (None: it has not), `read_to` how
    far intake has read there: a failure would have been parked before.
    """
    if action == "skip":
        return Verdict("skipped", "not sent", 0)
    if parked_again is not None:
        return Verdict("failed", _words("parked again", parked_again), 0)
    if ends is not None and all(read_to.get(place, 0) >= end for place, end in ends.items()):
        return Verdict("applied", "inferred: committed past, and not parked again", 0)
    return None
