"""From an event to the effect that it has: what a service writes itself. The kit calls `Decider` for each event."""

from functools import partial
from typing import Any

from console.demo.disputes import bank
from console.demo.disputes.asking import ModelBusy, ask
from console.demo.disputes.events import NEED_A_DECISION
from console.demo.disputes.validation import decision_faults, event_faults
from parking.consumer import Effect, Event, Poison, RateLimited, ValidationError

VERSIONS = ("model", "prompt", "policy")


def needs_a_decision(event: Event) -> bool:
    """Whether the model is asked about the event."""
    return _event_type(event) in NEED_A_DECISION


class Decider:
    """The handler of the flow `disputes`; `model_url` is where decisions are proposed."""

    def __init__(self, model_url: str) -> None:
        self._model_url = model_url

    def __call__(self, event: Event) -> Effect:
        """What the event does. Raises Poison where it never will, RateLimited where the model asks to wait."""
        event_type = _event_type(event)
        members = event.json()
        if faults := event_faults(event_type, members):
            raise _poison("InvalidEvent", "event", faults)
        if members["account"].encode() != event.key:
            raise Poison(f"the key is {event.key!r} and the account {members['account']!r}", error_type="WrongKey")
        decision = self._decision(event) if event_type in NEED_A_DECISION else None
        change = bank.change(event_type, members, decision)
        write = partial(bank.apply, event=event, event_type=event_type, account=members["account"], change=change)
        return Effect(write, _evidence(event, decision))

    def _decision(self, event: Event) -> dict[str, Any]:
        """The model's decision, if it is one that may be carried out."""
        try:
            decision = ask(self._model_url, event.value or b"")
        except ModelBusy as busy:
            raise RateLimited(busy.retry_after, str(busy)) from busy
        if faults := decision_faults(decision):
            raise _poison("InvalidDecision", "decision", faults, _evidence(event, decision))
        return decision


def _event_type(event: Event) -> str:
    return (event.header("event-type") or b"").decode(errors="replace")


def _poison(
    error_type: str, what: str, faults: list[ValidationError], evidence: dict[str, str] | None = None
) -> Poison:
    count = "1 error" if len(faults) == 1 else f"{len(faults)} errors"
    message = f"The {what} did not pass validation: {count}."
    return Poison(message, error_type=error_type, validation_errors=faults, evidence=evidence)


def _evidence(event: Event, decision: dict[str, Any] | None) -> dict[str, str] | None:
    """What the decision was based on."""
    if decision is None:
        return None
    trace = (event.header("traceparent") or b"").decode(errors="replace")
    said = {name: str(decision[name]) for name in (*VERSIONS, "verdict") if name in decision}
    return said | ({"traceparent": trace} if trace else {})
