"""The consumer of the model: the real gate, ledger, outbox and process, one transaction or message at a time."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from parking import wire
from parking.consumer.ask import Wait as _Wait
from parking.coordinates import Coordinates
from parking.event_id import conflicting, event_id
from parking.fingerprint import fingerprint
from parking.record import Record
from parking.wire import Announcement, Command, names
from tests.consumer.model.kit import Kit
from tests.consumer.model.memory import EMPTY, Call, Database, Paused, State, Transcript, ledger

KEY = b"k"
AMENDED = b"amended "
NAMES = {"name": "f", "source_topic": "s", "parking_topic": "p", "replay_topic": "r", "consumer_group": "g"}
assert _Wait is not None


class Order(NamedTuple):
    """What the console sends: apply, amend, skip or hold an event, or release the key, under a token."""

    action: str
    token: int
    event: str = ""
    position: int | None = None


class Parked(NamedTuple):
    """What the parking topic has of an event."""

    kind: str
    event: str
    position: int


class Answer(NamedTuple):
    """What the parking topic has as an answer."""

    outcome: str
    event: str
    token: int
    fate_token: int | None
    fingerprint: bytes | None
    position: int | None
    still_held: tuple[str, ...] = ()


class Purging(NamedTuple):
    """A pass of the purge, and what Kafka told at that time: where its partitions begin, end, and are committed."""

    now: int
    places: tuple[tuple[int, int, int], ...]


What = tuple[int, int] | Order | Purging | bytes | None
"""Source partition and place in it; a replay record; a purge; a key whose outbox is published, None for all keys."""


class Doing(NamedTuple):
    """A process at work: on what, what it has heard until now, and what it does next."""

    what: What
    heard: int
    next: str


class Done(NamedTuple):
    """What one step led to. `doing` is None where the call has ended."""

    ledger: int
    doing: Doing | None
    published: tuple[Parked | Answer, ...]


class Consumer:
    """Source partitions with their records (`value` or `id=value`), and all that real code made of them so far."""

    def __init__(self, kit: Kit, partitions: tuple[tuple[str, ...], ...]) -> None:
        self.partitions = tuple(
            tuple(_source(number, place, text) for place, text in enumerate(texts))
            for number, texts in enumerate(partitions)
        )
        self._records = {event_id(record): record for records in self.partitions for record in reversed(records)}
        for records in self.partitions:
            for record in records:
                self._records.setdefault(conflicting(event_id(record), record.coordinates), record)
        self._kit = kit
        self._flow = kit.Flow(**NAMES)
        self._database = Database(kit)
        self._ledger = ledger(kit, self._database)
        self.now = 1
        gate = kit.Gate(self._flow, self._ledger, lambda: self.now)
        self._real_outbox = kit.Outbox(self._flow.name, self._ledger, self)
        retries = kit.Retries(attempts=1)
        self._process = kit.Process(gate, Phase(self), self._handler, retries, lambda: self.now, chance=lambda: 0.0)
        self.states: list[State] = [EMPTY]
        self._numbers = {EMPTY: 0}
        self._transcripts: list[Transcript] = [()]
        self._heard: dict[Transcript, int] = {(): 0}
        self.step = cache(self._step)
        self.steps_run = 0

    def begin(self, what: What) -> Doing:
        return Doing(what, 0, "transaction" if what else "outbox")

    def state(self, number: int) -> State:
        return self.states[number]

    def buffer_over(self, number: int) -> int:
        """The ledger after ten seconds."""
        state = self.states[number]
        (hold,) = state[0]
        over = (*hold[:-1], None)
        return self._number(((over,), *state[1:]))

    def buffers(self, number: int) -> bool:
        hold = self.states[number][0]
        return bool(hold) and bool(hold[0][3]) and hold[0][-1] is not None

    def due(self, number: int) -> bool:
        return bool(self.states[number][2])

    # One step of the real code

    def _step(self, number: int, doing: Doing, choice: str, now: int = 1) -> Done:
        """Carry a process on by one step, on that ledger; `choice` is what its handler decides now, if it does."""
        self.now = now
        self.steps_run += 1
        self._database.load(self.states[number])
        call = self._ledger.call = self._call = Call(self._transcripts[doing.heard], choice)
        then: Doing | None = None
        try:
            self._run(doing.what)
        except Paused as paused:
            then = Doing(doing.what, self._transcript(call.transcript), paused.kind)
            if paused.kind == "outbox" and isinstance(doing.what, tuple) and not call.published:
                then = Doing(KEY, 0, "outbox")  # what is left to do depends on nothing that it has heard
        published = (_read(*call.published),) if call.published else ()
        return Done(self._number(self._database.state()), then, published)

    def _run(self, what: What) -> None:
        if what is None or isinstance(what, bytes):
            Phase(self).publish(what)
        elif isinstance(what, Purging):
            self._purge(what)
        else:
            record = self._command(what) if isinstance(what, Order) else self.partitions[what[0]][what[1]]
            self._process(record, lambda _: self._call.later())

    def _purge(self, what: Purging) -> None:
        """What `parking.consumer.purge.purge` does once Kafka has told."""
        purge, place = self._kit.module("purge"), self._kit.module("edge").Place
        places = {str(number): place(*one) for number, one in enumerate(what.places)}
        since = purge.note(self._flow.name, self._ledger, places, now_ms=what.now)
        if since:
            purge.forget(self._flow.name, self._ledger, before=since)

    def _handler(self, event: Any) -> Callable[[Any], object]:
        if self._call.decided() == "fails":
            raise self._kit.Poison("no")
        row = (event.event_id, event.value, event.token)
        return lambda connection: connection.execute("INSERT INTO effect VALUES (?, ?, ?)", row)

    def publish(self, hold_key: bytes, published: Any) -> None:
        self._call.publish(hold_key, published)

    def _number(self, state: State) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self.states)
            self.states.append(state)
        return self._numbers[state]

    def _transcript(self, heard: Transcript) -> int:
        if heard not in self._heard:
            self._heard[heard] = len(self._transcripts)
            self._transcripts.append(heard)
        return self._heard[heard]

    @cache  # noqa: B019 -- lives as long as the search
    def _command(self, order: Order) -> Record:
        asked = Command(order.action, "f", KEY, order.token, "replay")
        if order.action != names.RELEASE:
            record = self._records[order.event]
            value = AMENDED + (record.value or b"") if order.action == "amend" else record.value
            asked = replace(
                asked, action=names.APPLY if order.action == "amend" else order.action, event_id=order.event,
                key=record.key, value=value, headers=record.headers, source=record.coordinates,
                fingerprint=fingerprint(record.key, value, record.headers), position=order.position,
            )  # fmt: skip
        return Record("r", 0, 0, 5, *wire.command.encode(asked, None))


class Phase:
    """The real outbox; from here on a process publishes, which coarse bounds take for one step."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def publish(self, hold_key: bytes | None) -> None:
        self._consumer._call.publishing = True
        self._consumer._real_outbox.publish(hold_key)

    def refuse(self, hold_key: bytes, published: Any) -> None:
        raise AssertionError(f"refused: {wire.decode_parking(Record('p', 0, 0, 0, *published))}")


def _source(partition: int, place: int, text: str) -> Record:
    named, _, value = text.partition("=")
    headers = (("event-id", named.encode()),)
    return Record("s", partition, place, 1_000 + place, KEY, (value or named).encode(), headers)


@cache
def _read(hold_key: bytes, published: Any) -> Parked | Answer:
    told = wire.decode_parking(Record("p", 0, 0, 0, *published))
    if isinstance(told, Announcement):
        return Parked(told.kind, told.event_id, told.position)
    held = tuple(one.event_id for one in told.still_held)
    token, fate_token = told.token or 0, told.fate_token
    return Answer(told.outcome, told.event_id or "", token, fate_token, told.fingerprint, told.position, held)


def coordinates(record: Record) -> Coordinates:
    return record.coordinates
