"""Source records: rules 1 to 3 of DESIGN section 4."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from parking import wire
from parking.attempt import Attempt
from parking.consumer.effect import Effect
from parking.consumer.event import Event
from parking.consumer.flow import Flow
from parking.consumer.ledger import rules
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import HELD, Fate, Hold
from parking.consumer.ledger.rules import Source
from parking.consumer.ledger.transaction import FateExists, Transaction, digest
from parking.consumer.step import Done, Later, Step, Work
from parking.consumer.together import Commit, alone
from parking.event_id import conflicting, event_id
from parking.fingerprint import content, fingerprint
from parking.record import Record
from parking.wire import Announcement, names
from parking.wire.block import compact

ID_CONFLICT = "id-conflict"
UNREADABLE = "unreadable"
AGAIN_SECONDS = 0.1
"""How soon an event is looked at again whose key is about to open."""

_Met = tuple[Source, Fate | None]
"""What a source record met, and the fate that its event had."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A source record, with what the rules need of it: `fate` is what its fate would be, still without a decision."""

    record: Record
    fate: Fate


def _apply(fate: Fate, effect: Effect, transaction: Transaction) -> bool:
    """Fate and business write together, if the key is open and the event new; whether they were."""
    open_and_new = transaction.insert_fate_if_open(fate)
    if open_and_new and effect.write is not None:
        effect.write(transaction.connection)
    return open_and_new


class SourceGate:
    """Decides about the source records of one flow."""

    def __init__(self, flow: Flow, ledger: Ledger, now_ms: Callable[[], int], commit: Commit | None = None) -> None:
        self._flow = flow
        self._ledger = ledger
        self._now_ms = now_ms
        self._commit = commit or partial(alone, ledger, flow.name)

    def begin(self, record: Record) -> Step:
        """What is to be done with a source record. Raises Unavailable."""
        seen = self._sighting(record, event_id(record))
        return self._failed(seen, [self._try(UNREADABLE, record.fault)]) if record.fault else self._look(seen)

    def _sighting(self, record: Record, named: str) -> Sighting:
        fate = Fate(
            event_id=named,
            state=HELD,
            hold_key=self._flow.hold_key(record.key, named),
            source=record.coordinates,
            content=content(record.key, record.value),
            source_fingerprint=fingerprint(record.key, record.value, record.headers),
            at=self._now_ms(),
        )
        return Sighting(record, fate)

    def _look(self, seen: Sighting) -> Step:
        """Without a lock: a hint. Each way on looks again."""
        with self._ledger.transaction(self._flow.name, write=False) as transaction:
            fate, quarantined, buffers, worn = transaction.look(seen.fate.event_id, seen.fate.hold_key)
        meets = rules.source(seen.fate, fate, quarantined=quarantined, buffers=buffers, worn=worn)
        return self._hold(seen) if meets is Source.HOLD else self._go_on(seen, (meets, fate))

    def _go_on(self, seen: Sighting, met: _Met) -> Step:
        """What is to be done about an event that is not held."""
        meets, fate = met
        if meets is Source.HANDLE:
            return Work(self._event(seen), partial(self._applied, seen), partial(self._failed, seen))
        if meets is Source.CONFLICT:
            return self._conflict(seen)
        if meets is Source.WAIT:
            return Later(AGAIN_SECONDS, partial(self._look, seen))
        return Done(seen.fate.hold_key, known=fate)

    def _hold(self, seen: Sighting) -> Step:
        """The event is held if its key is still quarantined."""
        try:
            met = self._hold_locked(seen)
        except FateExists:
            return self._look(seen)
        return Done(seen.fate.hold_key) if met[0] is Source.HOLD else self._go_on(seen, met)

    def _hold_locked(self, seen: Sighting) -> _Met:
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, met = self._meets(transaction, seen)
            if met[0] is Source.HOLD:
                hold, held = rules.hold(hold, seen.fate, self._now_ms())
                transaction.save_hold(hold)
                self._park(transaction, seen, held, blocked_by=hold.blocked_by)
        return met

    def _meets(self, transaction: Transaction, seen: Sighting) -> tuple[Hold, _Met]:
        """Lock, then look."""
        hold = transaction.lock(seen.fate.hold_key)
        buffers = hold.buffer_until is not None and hold.buffer_until > transaction.now_ms()
        fate = transaction.fate(seen.fate.event_id)
        worn = fate is None and transaction.worn(seen.fate.event_id)
        return hold, (rules.source(seen.fate, fate, quarantined=hold.quarantined, buffers=buffers, worn=worn), fate)

    def _applied(self, seen: Sighting, effect: Effect) -> Step:
        """The commit gate of a live success: fate and business write in one transaction, without a lock."""
        fate = rules.live(seen.fate, compact(effect.result), compact(effect.evidence), self._now_ms())
        return Done(applied=True) if self._commit(partial(_apply, fate, effect)) else self._look(seen)

    def _failed(self, seen: Sighting, tries: Sequence[Attempt], evidence: Mapping[str, Any] | None = None) -> Step:
        """The commit gate of a failure: the key is quarantined and the event parked as poison."""
        try:
            met = self._failed_locked(seen, tries, evidence)
        except FateExists:
            return self._failed(seen, tries, evidence)
        if met[0] is Source.WAIT:
            return Later(AGAIN_SECONDS, partial(self._failed, seen, tries, evidence))
        if met[0] in (Source.HOLD, Source.HANDLE):
            return Done(seen.fate.hold_key, parked=True, event=self._event(seen))
        return self._go_on(seen, met)

    def _failed_locked(self, seen: Sighting, tries: Sequence[Attempt], evidence: Mapping[str, Any] | None) -> _Met:
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, met = self._meets(transaction, seen)
            if met[0] in (Source.HOLD, Source.HANDLE):
                hold, poison = rules.quarantine(hold, seen.fate, tries, self._now_ms())
                transaction.save_hold(hold)
                self._park(transaction, seen, poison, tries=tries, evidence=evidence)
        return met

    def _conflict(self, seen: Sighting) -> Step:
        """Another event wears the id: this one is poison, under an id of its own."""
        named = conflicting(seen.fate.event_id, seen.fate.source)
        message = f"another event wears the id {seen.fate.event_id!r} with other content; this one is called {named!r}"
        renamed = self._sighting(seen.record, named)
        fate = replace(renamed.fate, base_digest=digest(seen.fate.event_id))
        return self._failed(replace(renamed, fate=fate), [self._try(ID_CONFLICT, message)])

    def _try(self, error_type: str, message: str) -> Attempt:
        """What the gate itself has against an event, without asking the handler."""
        return Attempt(1, self._now_ms(), error_type, message, retryable=False)

    def _park(
        self,
        transaction: Transaction,
        seen: Sighting,
        fate: Fate,
        *,
        blocked_by: str | None = None,
        tries: Sequence[Attempt] = (),
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the fate and what has to be announced of it."""
        transaction.insert_fate(replace(fate, evidence=compact(evidence)))
        parked = Announcement(
            kind=fate.kind or names.HELD,
            flow=self._flow.name,
            event_id=fate.event_id,
            position=fate.position or 0,
            fingerprint=fate.source_fingerprint,
            source=fate.source,
            key=seen.record.key,
            value=seen.record.value,
            headers=seen.record.headers,
            consumer_group=self._flow.consumer_group,
            attempts=tuple(tries),
            blocked_by=blocked_by,
            evidence=evidence,
        )
        transaction.announce(fate.hold_key, wire.announcement.encode(parked))

    def _event(self, seen: Sighting) -> Event:
        record, fate = seen.record, seen.fate
        return Event(fate.event_id, fate.hold_key, record.key, record.value, record.headers, fate.source)
