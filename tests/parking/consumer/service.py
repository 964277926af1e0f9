"""A small service around the kit: a business table beside the ledger, a log in memory in place of Kafka's."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from parking import wire
from parking.consumer.effect import Effect
from parking.consumer.event import Event
from parking.consumer.flow import Flow
from parking.consumer.gate import Gate
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.outbox import Outbox
from parking.consumer.process import Process
from parking.consumer.tries import Retries
from parking.coordinates import Coordinates
from parking.record import Headers, Record
from parking.wire import Announcement, Command, Outcome, Wire, names

FLOW = Flow(name="disputes", source_topic="s", parking_topic="p", replay_topic="r", consumer_group="g")
EFFECTS = "CREATE TABLE effect (event_id text NOT NULL, value text, token bigint NOT NULL)"


class Crash(BaseException):
    """The process dies here: nothing catches it, and what was not committed is gone."""


@dataclass
class Log:
    """The parking topic. It can die before or after it has taken a record."""

    wires: list[tuple[bytes, Wire]] = field(default_factory=list)
    dies: str = ""

    def publish(self, hold_key: bytes, published: Wire) -> None:
        if self.dies == "before":
            raise Crash
        self.wires.append((hold_key, published))
        if self.dies == "after":
            raise Crash

    @property
    def records(self) -> list[Announcement | Outcome]:
        return [wire.decode_parking(Record("p", 0, n, 0, *published)) for n, (_, published) in enumerate(self.wires)]

    @property
    def announcements(self) -> list[Announcement]:
        return [record for record in self.records if isinstance(record, Announcement)]

    @property
    def outcomes(self) -> list[Outcome]:
        return [record for record in self.records if isinstance(record, Outcome)]

    @property
    def outcome(self) -> Outcome:
        """The latest answer."""
        return self.outcomes[-1]

    @property
    def said(self) -> list[str]:
        """All that was published, in few words: `poison e1`, `applied e1`, `released`."""
        return [
            f"{r.kind} {r.event_id}" if isinstance(r, Announcement) else f"{r.outcome} {r.event_id or ''}".strip()
            for r in self.records
        ]


class Service:
    """What one process of the service is: a handler and a gate, on a ledger that others may share."""

    def __init__(
        self,
        ledger: Ledger,
        log: Log,
        flow: Flow = FLOW,
        *,
        mark: str,
        attempts: int = 3,
        now: Callable[[], int],
        **more: Any,
    ) -> None:
        self.ledger, self.log, self.flow = ledger, log, flow
        self.now = lambda: now() + int(1000 * sum(self.waited))
        self.waited: list[float] = []
        self.seen: list[Event] = []
        self.fails: dict[bytes | None, Any] = {}
        self.meanwhile: Callable[[Event], None] = lambda event: None
        self.gate = Gate(flow, ledger, self.now)
        self.outbox = Outbox(flow.name, ledger, log)
        retries = Retries(attempts=attempts)
        self.process = Process(self.gate, self.outbox, self.handler, retries, self.now, chance=lambda: 1.0, **more)
        self._insert = f"INSERT INTO effect (event_id, value, token) VALUES ({mark}, {mark}, {mark})"

    def handler(self, event: Event) -> Callable[[Any], None]:
        self.seen.append(event)
        self.meanwhile(event)
        if (failure := self.fails.get(event.value)) is not None:
            error = failure(event) if callable(failure) else failure
            if error is not None:
                raise error
        return self.write(event)

    def returns(self, returned: Any) -> None:
        """From now on the handler returns this, whatever the event."""

        def handler(event: Event) -> Any:
            self.seen.append(event)
            return returned

        self.process._trying.handler = handler

    def write(self, event: Event) -> Callable[[Any], None]:
        value = None if event.value is None else event.value.decode()
        return lambda connection: connection.execute(self._insert, [event.event_id, value, event.token])

    def process_effect(self, event: Event) -> Effect:
        """What the handler decides of an event, for a test that carries it through the gate itself."""
        return Effect(self.write(event))

    def take(self, *records: Record) -> None:
        """Process the records, one after the other, as far as their offsets may move."""
        for record in records:
            self.process(record, self.waited.append)

    def apply(self, parked: Announcement, token: int, **changes: Any) -> None:
        self.take(command(names.APPLY, parked, token, **changes))

    def skip(self, parked: Announcement, token: int) -> None:
        self.take(command(names.SKIP, parked, token))

    def release(self, token: int, hold_key: bytes = b"k") -> None:
        self.take(sent(Command(names.RELEASE, self.flow.name, hold_key, token, "replay")))

    @property
    def effects(self) -> list[tuple[str, str | None, int]]:
        with self.ledger.transaction("", write=False) as transaction:
            rows = transaction.connection.execute("SELECT event_id, value, token FROM effect").fetchall()
        return [(event_id, value, token) for event_id, value, token in rows]

    @property
    def applied(self) -> list[str]:
        """The ids of the events that took effect, in order."""
        return [event_id for event_id, _, _ in self.effects]

    @property
    def due(self) -> int:
        """How many records wait in the outbox."""
        with self.ledger.transaction(self.flow.name, write=False) as transaction:
            return len(transaction.due(None))


def source(
    value: str | None,
    offset: int,
    *,
    event_id: str | None = None,
    key: bytes | None = b"k",
    headers: Headers = (),
    partition: int = 0,
) -> Record:
    """A record of the source topic; its event id is its value, unless told otherwise."""
    named = ((("event-id", (event_id or value or "").encode()),) if event_id != "" else ()) + headers
    return Record("s", partition, offset, 1_000 + offset, key, None if value is None else value.encode(), named)


def command(action: str, parked: Announcement, token: int, **changes: Any) -> Record:
    """The replay record for a parked event; `changes` are of the Command."""
    asked = Command(
        action=action,
        flow=FLOW.name,
        hold_key=b"k",
        token=token,
        replay_id="replay",
        event_id=parked.event_id,
        key=parked.key,
        value=parked.value,
        headers=parked.headers,
        source=parked.source,
        fingerprint=parked.fingerprint,
    )
    return sent(replace(asked, **changes))


def sent(asked: Command, secret: bytes | None = None, offset: int = 0) -> Record:
    return Record("r", 0, offset, 5, *wire.command.encode(asked, secret))


def at(offset: int) -> Coordinates:
    return Coordinates("s", 0, offset, 1_000 + offset)
