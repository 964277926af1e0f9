"""The schedule as several threads share it: one reads Kafka and puts records in, others take them out."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from parking.consumer.ask import Course
from parking.consumer.schedule import Place, Schedule, Ticket


@dataclass(frozen=True, slots=True)
class Read:
    """A record that was read: where it stands, in whose line, its course, and its size in bytes."""

    place: Place
    offset: int
    hold_key: bytes
    course: Course
    size: int


class Dispatch:
    """A schedule with a lock, and a clock in seconds.

    `changed` is called, under the lock, whenever something may start that could not before; it must be short.
    """

    def __init__(self, schedule: Schedule, clock: Callable[[], float] = time.monotonic) -> None:
        self._schedule = schedule
        self._clock = clock
        self._lock = threading.Lock()
        self._start = threading.Condition(self._lock)
        self._stop = threading.Condition(self._lock)
        self._ended = False
        self.broken: BaseException | None = None
        self.changed: Callable[[], None] = self._start.notify

    # for the thread that reads Kafka

    def add(self, records: Iterable[Read]) -> None:
        """Records were read."""
        with self._lock:
            now = self._clock()
            for read in records:
                self._schedule.add(read.place, read.offset, read.hold_key, read.course, now=now, size=read.size)
                self.changed()

    def reached(self, place: Place, offset: int) -> None:
        """The partition was read up to its end."""
        with self._lock:
            self._schedule.reached(place, offset)

    def assign(self, places: Iterable[Place]) -> None:
        """Partitions are ours."""
        with self._lock:
            for place in places:
                self._schedule.assign(place)

    def drain(self, places: Iterable[Place], within: float) -> bool:
        """Start nothing more of the partitions, and wait for what runs; whether it ended within so many seconds."""
        places = list(places)
        with self._lock:
            for place in places:
                self._schedule.shut(place)
            patience = 0.0 if self._ended else within
            return self._stop.wait_for(lambda: not any(map(self._schedule.at_work, places)), patience)

    def forget(self, places: Iterable[Place]) -> None:
        """The partitions are not ours any more: what does not run is given up, what runs when it is to go on."""
        with self._lock:
            left = [ticket for place in places for ticket in self._schedule.forget(place)]
        for ticket in left:
            _give_up(ticket)

    def positions(self) -> dict[Place, int]:
        """Up to which offset each partition may be committed."""
        with self._lock:
            return self._schedule.positions()

    def backlog(self, place: Place) -> tuple[int, int, int]:
        """How many records of the partition are read and unfinished, their bytes, and how many records are kept."""
        with self._lock:
            return self._schedule.backlog(place)

    @property
    def running(self) -> int:
        """How many records are worked on."""
        with self._lock:
            return self._schedule.running

    def oldest(self) -> float:
        """For how many seconds the oldest unfinished record has been here; 0 if all is finished."""
        with self._lock:
            since = self._schedule.oldest()
            return 0.0 if since is None else self._clock() - since

    def end(self) -> None:
        """Nothing starts any more; who waits for a record gets None."""
        with self._lock:
            self._ended = True
            self._start.notify_all()
            self.changed()

    # for those that do the work

    def next(self) -> Ticket | None:
        """Wait for a record that may start, and take it; None once all is over."""
        with self._lock:
            while not self._ended:
                ticket = self._schedule.take(self._clock())
                due = self._until_due()
                if ticket is None:
                    self._start.wait(due)
                    continue
                if due is not None:
                    self._start.notify()  # somebody else has to wait for the time that this one waited for
                return ticket
            return None

    def take(self) -> tuple[Ticket | None, float | None]:
        """A record that may start, if there is one, and after how many seconds another one may; without waiting."""
        with self._lock:
            ticket = None if self._ended else self._schedule.take(self._clock())
            return ticket, self._until_due()

    def worked(self, ticket: Ticket, pause: float | None) -> None:
        """A record that was taken is behind us (None), or goes on after so many seconds."""
        with self._lock:
            if pause is None:
                self._schedule.finish(ticket)
            else:
                self._schedule.later(ticket, self._clock() + pause)
            self._stop.notify_all()
            self.changed()
        if pause is not None and ticket.partition.gone:
            _give_up(ticket)

    def breaks(self, ticket: Ticket, error: BaseException) -> None:
        """The handler raised what no program goes on from: the record stays unfinished, and the consumer ends."""
        self.broken = error
        self.end()
        self.worked(ticket, pause=float("inf"))

    def _until_due(self) -> float | None:
        due = self._schedule.due()
        return None if due is None else min(max(due - self._clock(), 0.0), threading.TIMEOUT_MAX)


def _give_up(ticket: Ticket) -> None:
    """Nobody carries the record on: its course ends where it stands, and holds on to nothing."""
    cast("Course", ticket.task).close()
