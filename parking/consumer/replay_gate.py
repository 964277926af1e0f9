"""Replay records: rules 1 to 7 of DESIGN section 4, the release marker and the hold record."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from parking.attempt import Attempt
from parking.consumer.answers import Answers
from parking.consumer.effect import Effect
from parking.consumer.event import Event
from parking.consumer.flow import Flow
from parking.consumer.ledger import rules
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import HELD, Fate, Hold
from parking.consumer.ledger.rules import Answer
from parking.consumer.ledger.transaction import FateExists, Transaction, digest
from parking.consumer.step import Done, Step, Work
from parking.coordinates import Coordinates
from parking.event_id import conflicting, worn_before
from parking.fingerprint import content
from parking.record import Record
from parking.wire import Command, Outcome, Wire, names, outcome
from parking.wire.block import compact

UNKNOWN = Coordinates("", -1, -1, -1)
MOST_NAMED = 100
"""How many of the events that keep a key closed an answer names, at most."""


class ReplayGate:
    """Decides about the replay records of one flow."""

    def __init__(self, flow: Flow, ledger: Ledger, now_ms: Callable[[], int]) -> None:
        self._flow = flow
        self._ledger = ledger
        self._now_ms = now_ms
        self._answers = Answers(flow)

    def begin(self, record: Record) -> Step:
        """What is to be done with a replay record. Raises Unavailable."""
        command = self._answers.read(record)
        if isinstance(command, Outcome):
            return Done(command.hold_key, refusal=outcome.encode(command))
        if command.action == names.RELEASE:
            return self._release(command)
        return self._hold(command) if command.action == names.HOLD else self._look(command)

    def _look(self, command: Command) -> Step:
        """Under the lock: answer, skip, or let the handler run."""
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, found = self._rules(transaction, command)
            if isinstance(found, Fate):
                hold = rules.seen(hold, command.token)
                transaction.save_hold(hold)
                if command.action == names.APPLY:
                    event = self._event(command, found)
                    return Work(event, partial(self._applied, command), partial(self._failed, command))
                found = self._update(transaction, rules.skip(found, command, self._now_ms()))
            self._announce(transaction, command, hold, found)
        return Done(command.hold_key)

    def _applied(self, command: Command, effect: Effect) -> Step:
        """The commit gate of a success: the rules again, then fate and business write in one transaction."""
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, found = self._rules(transaction, command)
            applied = isinstance(found, Fate)
            if isinstance(found, Fate):
                hold = rules.seen(hold, command.token)
                transaction.save_hold(hold)
                fate = rules.apply(found, command, compact(effect.result), compact(effect.evidence), self._now_ms())
                found = self._update(transaction, fate)
                if effect.write is not None:
                    effect.write(transaction.connection)
            self._announce(transaction, command, hold, found)
        return Done(command.hold_key, applied=applied)

    def _failed(self, command: Command, tries: Sequence[Attempt], evidence: Mapping[str, Any] | None = None) -> Step:
        """The commit gate of a failure: the rules again, then this token is dead."""
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, found = self._rules(transaction, command)
            failed = isinstance(found, Fate)
            if isinstance(found, Fate):
                hold, fate = rules.fail(hold, found, command, tries, compact(evidence), now_ms=self._now_ms())
                transaction.save_hold(hold)
                transaction.update_fate(fate)
                found = Answer(names.FAILED, fate)
            self._announce(transaction, command, hold, found)
        return Done(command.hold_key, parked=failed)

    def _release(self, command: Command) -> Step:
        """The release marker: the key opens only if everything it ever held is settled."""
        with self._ledger.transaction(self._flow.name) as transaction:
            hold = transaction.lock(command.hold_key)
            held, poison = transaction.count_held(command.hold_key)
            said, hold = rules.release(hold, held, command.token)
            if said == names.STILL_HELD and not poison:
                hold = rules.buffer(hold, transaction.now_ms())
            transaction.save_hold(hold)
            named = transaction.held(command.hold_key, MOST_NAMED) if said == names.STILL_HELD else []
            wire = outcome.encode(self._answers.marker(command, hold, said, held, named))
            transaction.announce(command.hold_key, wire)
        return Done(command.hold_key)

    def _hold(self, command: Command) -> Step:
        """The hold record: what the ledger has forgotten is held again, at the position that the console knows."""
        try:
            with self._ledger.transaction(self._flow.name) as transaction:
                hold = transaction.lock(command.hold_key)
                answer = rules.hold_again(hold, self._same(transaction, command), command)
                refusal = self._refusal(transaction, command, answer)
                if refusal is not None:
                    return Done(command.hold_key, refusal=refusal)
                if answer is None:
                    seen = self._forgotten(transaction, command)
                    hold, answer = rules.held_again(hold, seen, command.token), Answer(names.HELD, seen)
                    transaction.save_hold(hold)
                    transaction.insert_fate(seen)
                elif answer.outcome == names.HELD:
                    hold, answer = self._earlier(transaction, command, hold, answer)
                elif answer.outcome in names.FACTS:
                    transaction.save_hold(rules.told(hold, command.position or 0))
                self._announce(transaction, command, hold, answer)
        except FateExists:
            return self._hold(command)
        return Done(command.hold_key)

    def _refusal(self, transaction: Transaction, command: Command, answer: Answer | None) -> Wire | None:
        """Why the event of a hold record cannot be held as it says, if so."""
        if answer is None:
            taken_by = transaction.held_at(command.hold_key, command.position or 0)
            return None if taken_by is None else self._answers.taken(command, taken_by)
        fate = answer.fate
        elsewhere = answer.outcome == names.HELD and fate is not None and fate.hold_key != command.hold_key
        return self._answers.elsewhere(command, fate.event_id) if fate is not None and elsewhere else None

    def _earlier(self, transaction: Transaction, command: Command, hold: Hold, answer: Answer) -> tuple[Hold, Answer]:
        """The event came once more and was held behind all others, before its hold record told where its place is."""
        hold, fate = rules.earlier(hold, answer.fate, command)
        if fate is None or transaction.held_at(command.hold_key, fate.position or 0) is not None:
            return hold, answer
        transaction.save_hold(hold)
        return hold, self._update(transaction, fate)

    def _same(self, transaction: Transaction, command: Command) -> Fate | None:
        """The fate of the event, also where the ledger was lost and the event came once more before it was held again:
        then it may be known by the other one of the two ids that a conflict is about."""
        fate = transaction.fate(command.event_id or "")
        if command.source is None or (fate is not None and fate.source == command.source):
            return fate
        base = self._base(command)
        other = transaction.fate(base or conflicting(command.event_id or "", command.source))
        if other is not None and other.source == command.source:
            return other
        return None if fate is not None and _is_another(command, fate) else fate

    def _base(self, command: Command) -> str | None:
        """The id that the event wore before it got that one by a conflict, if it did."""
        record = Record(*(command.source or UNKNOWN), command.key, command.value, command.headers)
        return worn_before(command.event_id or "", record)

    def _forgotten(self, transaction: Transaction, command: Command) -> Fate:
        """The fate that the event of a hold record gets. Where another event wears its id in the ledger by now, it gets
        the name that a source record of it would get, too."""
        base, named = self._base(command), command.event_id or ""
        if transaction.fate(named) is not None:
            base, named = named, conflicting(named, command.source or UNKNOWN)
        return Fate(
            event_id=named,
            state=HELD,
            hold_key=command.hold_key,
            source=command.source or UNKNOWN,
            content=content(command.key, command.value),
            source_fingerprint=command.fingerprint or b"",
            at=self._now_ms(),
            kind=command.kind or names.HELD,
            position=command.position,
            attempt_number=command.attempt_number or 0,
            base_digest=None if base is None else digest(base),
        )

    def _rules(self, transaction: Transaction, command: Command) -> tuple[Hold, Answer | Fate]:
        """Lock, then look."""
        hold = transaction.lock(command.hold_key)
        fate = self._same(transaction, command)
        first = next(iter(transaction.held(command.hold_key, 1)), None)
        return hold, rules.replay(hold, fate, first, command)

    def _update(self, transaction: Transaction, fate: Fate) -> Answer:
        transaction.update_fate(fate)
        return Answer(fate.state, fate)

    def _announce(self, transaction: Transaction, command: Command, hold: Hold, answer: Answer) -> None:
        transaction.announce(command.hold_key, outcome.encode(self._answers.event(command, hold, answer)))

    def _event(self, command: Command, fate: Fate) -> Event:
        return Event(
            event_id=fate.event_id,
            hold_key=fate.hold_key,
            key=command.key,
            value=command.value,
            headers=command.headers,
            source=command.source or fate.source,
            attempt=fate.attempt_number + 1,
            token=command.token,
            replay_id=command.replay_id,
        )


def _is_another(command: Command, fate: Fate) -> bool:
    """Whether the fate, from other coordinates, is of another event. Only a hold record has the event's own bytes; it
    has no value where they are lost."""
    has_bytes = command.action == names.HOLD and command.value is not None
    return has_bytes and fate.content != content(command.key, command.value)
