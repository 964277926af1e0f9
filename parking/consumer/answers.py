"""The outcome records that answer replay records, refusals included."""

import json
from collections.abc import Sequence
from dataclasses import replace

from parking import attempt
from parking.consumer.flow import Flow
from parking.consumer.ledger.rows import Fate, Hold
from parking.consumer.ledger.rules import Answer
from parking.malformed import Malformed, shown
from parking.record import Record
from parking.wire import Command, Outcome, StillHeld, Wire, command, names, outcome, verify

LARGEST_POSITION = 2**62
"""The next position is one more, and has to fit the ledger's 64 bits."""
LARGEST_NUMBER = 2**31 - 2


class Answers:
    """Reads the replay records of one flow and words what is answered."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def read(self, record: Record) -> Command | Outcome:
        """Rule 1: the command that the record is, or the refusal."""
        if self._flow.secret and not verify(self._flow.secret, record):
            # without token and replay id, so that a forger stops nothing
            return self._refused(record.key or b"", f"wrong or missing signature on {record.coordinates}")
        if record.fault:
            return self._refused(b"", f"{record.coordinates}: {record.fault}")
        try:
            found = command.decode(record)
        except Malformed as malformed:
            return self._refused(b"", f"{record.coordinates}: {malformed}")
        reason = self._wrong(found)
        return found if reason is None else self._refused(found.hold_key, reason, found)

    def event(self, asked: Command, hold: Hold, answer: Answer) -> Outcome:
        """The answer to `apply`, `skip` and `hold`: what the ledger knows of the event."""
        fate = answer.fate
        told = Outcome(
            outcome=answer.outcome,
            flow=self._flow.name,
            hold_key=asked.hold_key,
            event_id=asked.event_id,
            position=None if fate is None else fate.position,
            token=asked.token,
            replay_id=asked.replay_id,
            source=asked.source if fate is None else fate.source,
            consumer_group=self._flow.consumer_group,
            floor=hold.floor,
            first_held=answer.first_held,
        )
        return told if fate is None else _with_facts(told, fate)

    def marker(self, asked: Command, hold: Hold, said: str, held: int, named: Sequence[Fate]) -> Outcome:
        """The answer to a release marker."""
        return Outcome(
            outcome=said,
            flow=self._flow.name,
            hold_key=asked.hold_key,
            position=hold.released_position if said == names.RELEASED else None,
            token=asked.token,
            replay_id=asked.replay_id,
            consumer_group=self._flow.consumer_group,
            floor=hold.floor,
            held_count=held if said == names.STILL_HELD else None,
            still_held=tuple(StillHeld(f.event_id, f.position, f.kind or "", f.source) for f in named),
        )

    def _wrong(self, asked: Command) -> str | None:
        """What is wrong with a command that could be read."""
        if asked.flow != self._flow.name:
            return f"flow: expected {self._flow.name!r}, arrived {shown(asked.flow)}"
        if asked.action == names.RELEASE:
            return None
        if self._flow.hold_key(asked.key, asked.event_id or "") != asked.hold_key:
            return f"hold key: not what the key rule {self._flow.key_rule!r} makes of the record's key"
        if asked.action in (names.APPLY, names.HOLD) and asked.sent_fingerprint != asked.fingerprint:
            return "fingerprint: not that of the record as it arrived"
        return _wrong_place(asked) if asked.action == names.HOLD else None

    def taken(self, asked: Command, by: str) -> Wire:
        """The refusal of a hold record whose position another held event of the key has."""
        reason = f"position: {asked.position} is that of the held event {shown(by)}"
        return outcome.encode(self._refused(asked.hold_key, reason, asked))

    def elsewhere(self, asked: Command, called: str) -> Wire:
        """The refusal of a hold record whose event is held in another key, under the other name of an id conflict."""
        reason = f"event: it is held as {shown(called)} in another hold key; replay that one first"
        return outcome.encode(self._refused(asked.hold_key, reason, asked))

    def _refused(self, hold_key: bytes, reason: str, asked: Command | None = None) -> Outcome:
        refusal = Outcome(
            outcome=names.REFUSED,
            flow=self._flow.name,
            hold_key=hold_key,
            consumer_group=self._flow.consumer_group,
            reason=reason,
        )
        if asked is None:
            return refusal
        return replace(
            refusal, event_id=asked.event_id, token=asked.token, replay_id=asked.replay_id, source=asked.source
        )


def _wrong_place(asked: Command) -> str | None:
    """What is wrong with where and as what a hold record wants its event held."""
    if asked.position is None or asked.position > LARGEST_POSITION:
        return f"position: expected a number up to {LARGEST_POSITION}, arrived {asked.position}"
    if asked.kind is not None and asked.kind not in names.KINDS:
        return f"kind: expected {' or '.join(names.KINDS)}, arrived {shown(asked.kind)}"
    if (asked.attempt_number or 0) > LARGEST_NUMBER:
        return f"attempt number: expected at most {LARGEST_NUMBER}, arrived {asked.attempt_number}"
    return None


def _with_facts(told: Outcome, fate: Fate) -> Outcome:
    if fate.settled:
        evidence = json.loads(fate.evidence) if fate.evidence else None
        return replace(told, fingerprint=fate.fingerprint, fate_token=fate.token, evidence=evidence)
    if told.outcome == names.FAILED:
        evidence = json.loads(fate.evidence) if fate.evidence else None
        tries = attempt.from_json(fate.attempts) if fate.attempts else ()
        return replace(told, attempts=tries, evidence=evidence)
    return told
