"""What is wrong with an event or a decision, said so that somebody can mend it. Pure."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from console.demo.disputes.events import EVIDENCE, MEMBERS, REASONS
from parking.consumer import ValidationError

MOST_CENTS = 10**12


class Rule(NamedTuple):
    expected: str
    hint: str
    holds: Callable[[object], bool]


def _whole(least: int, most: int = 2**63 - 1) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _like(pattern: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _among(values: tuple[str, ...]) -> Callable[[object], bool]:
    return lambda value: value in values


RULES: Mapping[str, Rule] = {
    "dispute_id": Rule("text like dsp-7731", "use the number of the case file", _like(r"dsp-[0-9]+")),
    "amount_cents": Rule("integer", "send minor units, for example 120000", _whole(1, MOST_CENTS)),
    "account": Rule("text like acc-20417", "use the account's own number", _like(r"acc-[0-9]+")),
    "card": Rule("text of 16 digits", "leave out blanks and dashes", _like(r"[0-9]{16}")),
    "reason": Rule(", ".join(REASONS), "choose one of the listed reasons", _among(REASONS)),
    "evidence": Rule(", ".join(EVIDENCE), "choose one of the listed kinds", _among(EVIDENCE)),
    "limit_cents": Rule("integer", "send minor units, 0 for no credit", _whole(0, MOST_CENTS)),
    "ledger_seq": Rule("integer", "copy it from the ledger, all digits", _whole(0)),
    "verdict": Rule("refund, reject", "ask the model again", _among(("refund", "reject"))),
}
OF_A_DECISION = ("verdict", "amount_cents", "reason")
SHOWN = 200
ABOUT_THE_DECISION = ("amount_cents", "reason")  # the model judges these; an event may bring what it likes


def event_faults(event_type: str, event: object) -> list[ValidationError]:
    """What is wrong with an event before anyone is asked to decide about it."""
    if event_type not in MEMBERS:
        return [
            ValidationError(
                "", "a known event type: " + ", ".join(MEMBERS), _shown(event_type), "set the header event-type"
            )
        ]
    if not isinstance(event, dict):
        return [ValidationError("", "a JSON object", _shown(event), f"send the members of {event_type}")]
    return _faults(event, (name for name in MEMBERS[event_type] if name not in ABOUT_THE_DECISION))


def decision_faults(decision: Mapping[str, object]) -> list[ValidationError]:
    """What is wrong with a decision that the model proposed."""
    return _faults(decision, OF_A_DECISION)


def _faults(values: Mapping[str, object], names: Iterable[str]) -> list[ValidationError]:
    return [
        ValidationError(f"/{name}", RULES[name].expected, _shown(values.get(name)), RULES[name].hint)
        for name in names
        if not RULES[name].holds(values.get(name))
    ]


def _shown(value: object) -> str:
    """What arrived, as it was written."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
