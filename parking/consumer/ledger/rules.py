"""The rules of the gate (DESIGN section 4), pure: from what was read under the lock to what is written and answered.

Every ledger and every owner of a key goes through these functions, so that none can disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from parking import attempt
from parking.attempt import Attempt
from parking.consumer.ledger.rows import APPLIED, HELD, SKIPPED, Fate, Hold
from parking.wire import names
from parking.wire.command import Command

BUFFER_MS = 10_000
"""How long a source owner leaves the events of a key unfinished that is about to open."""


class Source(Enum):
    """What a source record meets."""

    KNOWN = "the same event again: publish its announcement if that is still due, nothing else"
    CONFLICT = "another event wears the same id"
    WAIT = "the key is about to open: look again soon"
    HOLD = "the key is quarantined"
    HANDLE = "the handler may run"


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome as far as the rules decide it. `fate` is the event's as the ledger has it."""

    outcome: str
    fate: Fate | None = None
    first_held: str | None = None


def source(seen: Fate, fate: Fate | None, *, quarantined: bool, buffers: bool, worn: bool) -> Source:
    """Rules 1 and 2 of a source record; `fate` is what the ledger has under its id, `buffers` whether the key's events
    are to be left unfinished for now, `worn` whether an event was renamed because of the id: then another one wore it
    before, also where its fate was lost or forgotten."""
    if fate is not None:
        same = fate.source == seen.source or fate.content == seen.content
        return Source.KNOWN if same else Source.CONFLICT
    if worn:
        return Source.CONFLICT
    if quarantined:
        return Source.WAIT if buffers else Source.HOLD
    return Source.HANDLE


def live(seen: Fate, result: bytes | None, evidence: bytes | None, now_ms: int) -> Fate:
    """Rule 3: the event is applied as it arrived."""
    done = replace(seen, state=APPLIED, fingerprint=seen.source_fingerprint, at=now_ms)
    return replace(done, result=result, evidence=evidence)


def hold(key: Hold, seen: Fate, now_ms: int) -> tuple[Hold, Fate]:
    """Rule 2: the event is held at the next position."""
    return _parked(key, replace(seen, kind=names.HELD), now_ms)


def quarantine(key: Hold, seen: Fate, tries: Sequence[Attempt], now_ms: int) -> tuple[Hold, Fate]:
    """Rule 3: the event failed for good. It is poison even where the key was quarantined meanwhile."""
    blocked_by = key.blocked_by if key.quarantined else seen.event_id
    key = replace(key, quarantined=True, blocked_by=blocked_by)
    return _parked(key, _tried(replace(seen, kind=names.POISON), tries), now_ms)


def replay(key: Hold, fate: Fate | None, first: Fate | None, command: Command) -> Answer | Fate:
    """Rules 2 to 6 of a replay record: the answer, or the held fate on which it may act.

    `first` is the first held event of the key.
    """
    if fate is not None and fate.settled:
        return Answer(fate.state, fate)
    if fate is not None and fate.token == command.token:
        return Answer(names.FAILED, fate)
    if command.token < key.floor:
        return Answer(names.FENCED, fate)
    if not key.quarantined or fate is None or fate.hold_key != key.hold_key:
        return Answer(names.NOT_HELD, fate)
    if first is None or first.event_id != fate.event_id:
        return Answer(names.OUT_OF_ORDER, fate, first_held=None if first is None else first.event_id)
    return fate


def seen(key: Hold, token: int) -> Hold:
    """Rule 7: from now on nothing of an older plan acts."""
    return replace(key, floor=max(key.floor, token))


def skip(fate: Fate, command: Command, now_ms: int) -> Fate:
    """Rule 7: a skipped event never comes back to life."""
    return replace(fate, state=SKIPPED, fingerprint=command.fingerprint, token=command.token, at=now_ms)


def apply(fate: Fate, command: Command, result: bytes | None, evidence: bytes | None, now_ms: int) -> Fate:
    """Rule 7: the event is applied as it was sent."""
    done = replace(fate, state=APPLIED, fingerprint=command.sent_fingerprint, token=command.token, at=now_ms)
    return replace(done, result=result, evidence=evidence)


def fail(
    key: Hold, fate: Fate, command: Command, tries: Sequence[Attempt], evidence: bytes | None, *, now_ms: int
) -> tuple[Hold, Fate]:
    """Rule 7: the event failed under this token; every later record of the replay is dead."""
    failed = _tried(replace(fate, kind=names.POISON, token=command.token, evidence=evidence, at=now_ms), tries)
    return replace(key, floor=max(key.floor, command.token + 1), buffer_until=None), failed


def release(key: Hold, held: int, token: int) -> tuple[str, Hold]:
    """The release marker: the answer, and the key as it is afterwards. `held` counts its held events."""
    if key.released == token or not key.quarantined:
        return names.RELEASED, key
    if token < key.floor:
        return names.FENCED, key
    if held:
        return names.STILL_HELD, seen(key, token)
    opened = replace(key, quarantined=False, blocked_by=None, floor=token + 1, buffer_until=None)
    return names.RELEASED, replace(opened, released=token, released_position=key.next_position)


def buffer(key: Hold, now_ms: int) -> Hold:
    """Still held, and nothing of it poison: the source owner waits, so that a busy key can open at all."""
    return replace(key, buffer_until=now_ms + BUFFER_MS)


def hold_again(key: Hold, fate: Fate | None, command: Command) -> Answer | None:
    """A hold record: the answer, or None where the ledger has forgotten the event and is to hold it again."""
    if fate is not None and fate.settled:
        return Answer(fate.state, fate)
    if command.token < key.floor:
        return Answer(names.FENCED, fate)
    return None if fate is None else Answer(names.HELD, fate)


def earlier(key: Hold, fate: Fate | None, command: Command) -> tuple[Hold, Fate | None]:
    """The key, and the held fate at the place that the console knows, where that one is before its own: what the
    ledger holds is to have the console's order, or no plan fits it."""
    place = command.position
    if fate is None or fate.position is None or place is None or fate.position <= place:
        return key, None
    return seen(key, command.token), replace(fate, position=place)


def told(key: Hold, position: int) -> Hold:
    """The key of an event that is settled, which the console has at that position: it may be forgotten here, and what
    comes next, a release too, is to be behind it."""
    key = replace(key, next_position=max(key.next_position, position + 1))
    return key if key.quarantined else replace(key, released_position=max(key.released_position, key.next_position))


def held_again(key: Hold, seen: Fate, token: int) -> Hold:
    """The key of an event that is held again, at the position that `seen` has."""
    position = seen.position or 0
    blocked_by = key.blocked_by if key.quarantined else seen.event_id
    key = replace(key, quarantined=True, blocked_by=blocked_by, next_position=max(key.next_position, position + 1))
    return replace(key, floor=max(key.floor, token))


def _parked(key: Hold, seen: Fate, now_ms: int) -> tuple[Hold, Fate]:
    position = max(key.next_position, now_ms)
    return replace(key, next_position=position + 1), replace(seen, state=HELD, position=position, at=now_ms)


def _tried(fate: Fate, tries: Sequence[Attempt]) -> Fate:
    return replace(fate, attempts=attempt.to_json(tries), attempt_number=tries[-1].number)
