"""The kit on a simulated clock: its real schedule, courses, gate and ledger; only time, model and log are made up.

A partition is a row of keys, one per event. Within one instant everything that may start starts before anything ends,
as it would side by side.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from parking.consumer import Event, Flow, RateLimited, Retries
from parking.consumer.ask import Course, Handle, Wait
from parking.consumer.gate import Gate
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.outbox import Outbox
from parking.consumer.process import Process
from parking.consumer.schedule import Place, Schedule, Ticket
from parking.record import Record
from parking.wire import Wire

FLOW = Flow(name="accounts", source_topic="s", parking_topic="p", replay_topic="r", consumer_group="g")
ONLY_THIS = "this event alone"


@dataclass
class Model:
    """Allows so many calls in each window of time; a call takes `seconds`. A 429 is answered at once."""

    calls_per_window: int = 6
    window: float = 10.0
    seconds: float = 4.0
    calls: list[tuple[float, str]] = field(default_factory=list)
    refused: list[tuple[float, str]] = field(default_factory=list)

    def ask(self, now: float, name: str) -> float:
        """Seconds until the window ends, if it is used up (429 with Retry-After); else 0, and the call begins."""
        begin = now - now % self.window
        if sum(at >= begin for at, _ in self.calls) >= self.calls_per_window:
            self.refused.append((now, name))
            return begin + self.window - now
        self.calls.append((now, name))
        return 0.0


@dataclass
class Simulation:
    """One process of the service, from its start at `now` (seconds).

    `pause(retry_after)` makes of a 429 what the handler raises; `poison` never succeeds. With `retry_topic` what fails
    is sent there instead of being tried again in its place.
    """

    layout: Sequence[str]
    ledger: Ledger
    model: Model
    pause: Callable[[float], RateLimited]
    poison: str = "P1#2"
    now: float = 0.0
    commit_every: float = 0.0
    from_offsets: dict[Place, int] = field(default_factory=dict)
    retry_topic: bool = False

    def __post_init__(self) -> None:
        self.schedule = Schedule(per_partition=3, overall=3 * len(self.layout))
        self.committed: dict[Place, int] = dict(self.from_offsets)
        self.begun: list[str] = []
        self.handed: list[str] = []
        self.published: list[tuple[bytes, Wire]] = []
        self._soon: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._committed_at = self.now
        retries = Retries(attempts=3, first_wait=0.0)
        gate = Gate(FLOW, self.ledger, self._now_ms)
        self.process = Process(gate, Outbox(FLOW.name, self.ledger, self), self._handler, retries, self._now_ms)
        for number, keys in enumerate(self.layout):
            place = ("s", number)
            self.schedule.assign(place)
            for offset, key in list(enumerate(keys))[self.committed.get(place, 0) :]:
                record = Record("s", number, offset, offset, key.encode(), b"{}", (("event-id", name(number, offset)),))
                self.schedule.add(place, offset, key.encode(), self.process.course(record), now=self.now)

    def run(self, until: float = float("inf")) -> float:
        """Let time pass until all is done, or the process dies at `until`; when the last thing happened."""
        last = self.now
        while True:
            self._start()
            due = self.schedule.due()
            times = ([self._soon[0][0]] if self._soon else []) + ([due] if due is not None else [])
            if not times or min(times) >= until:
                return last
            self._move_to(min(times))
            last = self.now
            while self._soon and self._soon[0][0] <= self.now:
                heapq.heappop(self._soon)[2]()

    def publish(self, hold_key: bytes, wire: Wire) -> None:
        """The parking topic takes a record."""
        self.published.append((hold_key, wire))

    def _start(self) -> None:
        while (ticket := self.schedule.take(self.now)) is not None:
            course: Any = ticket.task
            event = name(ticket.partition.place[1], ticket.offset).decode()
            self.begun += [] if event in self.begun else [event]
            self._go_on(ticket, course, partial(next, course))

    def _go_on(self, ticket: Ticket, course: Course, step: Callable[[], Any]) -> None:
        """Carry a record on until its handler is called, it waits, or it is behind us."""
        try:
            ask = step()
            while not isinstance(ask, Wait):
                if isinstance(ask, Handle):
                    return self._call(ticket, course, ask.call)
                ask = course.send(ask.call())
        except StopIteration:
            self.schedule.finish(ticket)
            self._commit(at_once=True)
            return None
        return self.schedule.later(ticket, self.now + ask.seconds)

    def _call(self, ticket: Ticket, course: Course, handler: Callable[[], Any]) -> None:
        """The handler's answer comes when the model's does: a 429 at once, anything else after the call."""
        try:
            answer, seconds = handler(), self.model.seconds
            step: Callable[[], Any] = partial(course.send, answer)
        except (RateLimited, ValueError) as error:
            step = partial(course.throw, error)
            seconds = 0.0 if isinstance(error, RateLimited) else self.model.seconds
        end: Callable[[], None] = partial(self._go_on, ticket, course, step)
        heapq.heappush(self._soon, (self.now + seconds, next(self._order), end))

    def _handler(self, event: Event) -> Any:
        if event.event_id not in self.handed:
            self.handed.append(event.event_id)
        wait = self.model.ask(self.now, event.event_id)
        if wait:
            raise self.pause(wait)
        if event.event_id == self.poison and self.retry_topic:
            return self._send_to_the_retry_topic(event)
        if event.event_id.endswith(self.poison):
            raise ValueError("poison")

        def write(connection: Any) -> None:
            connection.execute("INSERT INTO effect VALUES (?, ?, 0)", [event.event_id, event.hold_key.decode()])

        return write

    def _send_to_the_retry_topic(self, event: Event) -> None:
        """What many services do with what failed: the line goes on, and the event comes again from elsewhere."""
        place = ("s", len(self.layout))
        self.schedule.assign(place)
        named = (("event-id", f"retry of {event.event_id}".encode()),)
        course = self.process.course(Record(*place, 0, 0, event.key, event.value, named))
        self.schedule.add(place, 0, event.key or b"", course, now=self.now)

    def _move_to(self, time: float) -> None:
        """Time passes; a timer commits on its own."""
        while self.commit_every and self._committed_at + self.commit_every <= time:
            self._committed_at += self.commit_every
            self._commit(at_once=False)
        self.now = time

    def _commit(self, *, at_once: bool) -> None:
        if at_once == (not self.commit_every):
            self.committed |= self.schedule.positions()

    def _now_ms(self) -> int:
        return round(self.now * 1000)


def name(partition: int, offset: int) -> bytes:
    return f"P{partition}#{offset}".encode()
