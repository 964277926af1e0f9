"""What must hold of everything that was ever sent to the sample service. Pure: facts in, deviations out.

Three witnesses are compared that know nothing of each other: the source topic, read by this check itself; the effects
in the sample service's own database; and the console's store.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Place = tuple[int, int]  # partition and offset in the source topic


@dataclass(frozen=True)
class Sent:
    """A record of the source topic."""

    place: Place
    event_id: str
    account: bytes | None
    fingerprint: bytes


@dataclass(frozen=True)
class Effect:
    """A row of the sample service: what one event did, in the order in which it was written."""

    number: int
    place: Place
    event_id: str
    account: str
    fingerprint: bytes


@dataclass(frozen=True)
class Parked:
    """What the console knows of one event; `amendments` are the fingerprints of its edited copies."""

    place: Place
    event_id: str
    state: str
    amendments: frozenset[bytes] = frozenset()


def deviations(*, sent: Iterable[Sent], effects: Iterable[Effect], parked: Iterable[Parked]) -> list[str]:
    """One line for every effect that is not as it must be. What was sent must have been read after the effects."""
    by_place = {record.place: record for record in sent}
    written = sorted(effects, key=lambda effect: effect.number)
    known = {event.place: event for event in parked}
    return [
        *_twice(written),
        *_out_of_order(written),
        *_other_bytes(written, by_place, known),
        *_told_wrong(written, known),
    ]


def unfinished(*, sent: Iterable[Sent], effects: Iterable[Effect], parked: Iterable[Parked]) -> set[str]:
    """Event ids of records that have no effect, no place in the console, and repeat no earlier record."""
    done = {effect.place for effect in effects} | {event.place for event in parked}
    waiting: set[str] = set()
    first: set[tuple[str, bytes]] = set()
    for record in sorted(sent, key=lambda record: record.place):
        repeats = (record.event_id, record.fingerprint) in first
        first.add((record.event_id, record.fingerprint))
        if record.place not in done and not repeats:
            waiting.add(record.event_id)
    return waiting


def _twice(effects: list[Effect]) -> list[str]:
    times = Counter(effect.event_id for effect in effects)
    return [f"event {event_id} took effect {count} times" for event_id, count in times.items() if count > 1]


def _out_of_order(effects: list[Effect]) -> list[str]:
    last: dict[str, Effect] = {}
    found = []
    for effect in effects:
        before = last.get(effect.account)
        if before and before.place[0] == effect.place[0] and before.place[1] > effect.place[1]:
            found.append(f"{effect.account}: {before.event_id} took effect before the earlier {effect.event_id}")
        last[effect.account] = effect
    return found


def _other_bytes(effects: list[Effect], sent: Mapping[Place, Sent], known: Mapping[Place, Parked]) -> list[str]:
    oldest: dict[int, int] = defaultdict(lambda: 1 << 63)
    for partition, offset in sent:
        oldest[partition] = min(oldest[partition], offset)
    found = []
    for effect in effects:
        record = sent.get(effect.place)
        if record is None:
            if effect.place[1] >= oldest[effect.place[0]]:
                found.append(f"event {effect.event_id} took effect and was never sent")
            continue
        amendments = known[effect.place].amendments if effect.place in known else frozenset()
        if effect.fingerprint != record.fingerprint and effect.fingerprint not in amendments:
            found.append(f"event {effect.event_id} took effect with other bytes than were sent or decided")
    return found


def _told_wrong(effects: list[Effect], known: Mapping[Place, Parked]) -> list[str]:
    done = {effect.place for effect in effects}
    found = []
    for place, event in known.items():
        if event.state == "applied" and place not in done:
            found.append(f"event {event.event_id} is applied in the console and has no effect")
        if event.state in ("skipped", "parked") and place in done:
            found.append(f"event {event.event_id} is {event.state} in the console and took effect")
    return found
