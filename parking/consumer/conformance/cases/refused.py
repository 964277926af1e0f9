"""Replay records that must not act: whoever can write to the topic could make things happen otherwise."""

from dataclasses import replace

from parking import wire
from parking.consumer.conformance import contract
from parking.consumer.conformance.cases.quarantine import quarantined
from parking.consumer.conformance.contract import GOOD
from parking.consumer.conformance.line import Line, Violation
from parking.wire import Command, Outcome, names


def other_bytes_are_refused(line: Line) -> None:
    """`apply` whose fingerprint is not that of the record as it arrived is `refused`."""
    key, events = quarantined(line, held=0)
    command = line.apply(events[0], line.token(), value=GOOD)
    _refused(line, replace(command, value=contract.value(other=True)))
    line.has_no_effect(key)


def another_flow_is_refused(line: Line) -> None:
    """A command for another flow is `refused`."""
    key, events = quarantined(line, held=0)
    _refused(line, replace(line.apply(events[0], line.token(), value=GOOD), flow=line.flow + "-other"))
    line.has_no_effect(key)


def another_hold_key_is_refused(line: Line) -> None:
    """A hold key that is not what the key rule makes of the record's key is `refused`."""
    key, events = quarantined(line, held=0)
    _refused(line, replace(line.apply(events[0], line.token(), value=GOOD), hold_key=line.name("k").encode()))
    line.has_no_effect(key)


def what_cannot_be_read_is_refused_and_stops_nothing(line: Line) -> None:
    """Records that are no commands are `refused` and the ones behind them are obeyed."""
    key, events = quarantined(line, held=0)
    block = ((names.VERSION, b"1"), (names.FLOW, line.flow.encode()))
    before = _refusals(line)
    line.replay_record(key.encode(), b"x", ())
    line.replay_record(key.encode(), None, (*block, (names.ACTION, b"explode")))
    line.replay_record(key.encode(), None, (*block, (names.ACTION, b"apply"), (names.TOKEN, b"9" * 40)))
    line.wait("three more answers `refused`", lambda: _refusals(line) >= before + 3)
    token = line.token()
    line.command(line.apply(events[0], token, value=GOOD))
    line.answered(token, names.APPLIED, events[0].event_id)


def a_wrong_signature_is_refused_anonymously(line: Line) -> None:
    """Where the flow has a secret: a wrong or missing signature is `refused` without token and replay id."""
    if not line.secret:
        return
    key, events = quarantined(line, held=0)
    for secret in (None, b"not the secret"):
        before, token = _refusals(line), line.token()
        wired = wire.command.encode(line.apply(events[0], token, value=GOOD), secret)
        line.replay_record(wired.key, wired.value, wired.headers)
        line.wait("a refusal without token and replay id", lambda: _refusals(line) > before)  # noqa: B023
        told = [one.reads for one in line.parked if isinstance(one.reads, Outcome) and one.reads.token == token]
        if told:
            raise Violation(
                f"a forged record under token {token}: expected an answer without it, found {told[0].outcome}"
            )
    line.has_no_effect(key)


def _refused(line: Line, command: Command) -> None:
    line.command(command)
    line.answered(command.token, names.REFUSED, command.event_id)


def _refusals(line: Line) -> int:
    return sum(isinstance(one.reads, Outcome) and one.reads.outcome == names.REFUSED for one in line.parked)


CASES = (
    other_bytes_are_refused,
    another_flow_is_refused,
    another_hold_key_is_refused,
    what_cannot_be_read_is_refused_and_stops_nothing,
    a_wrong_signature_is_refused_anonymously,
)
