"""Which record is worked on next. Pure: no threads, no Kafka, and the time is given (in seconds of any clock).

Records of one hold key start in the order of their partition, and never two of one key at once, wherever they came
from. A record that waits (for its next try, for a dependency) keeps its place: what is behind it in its partition's
line of the key waits too, what stands in another partition (a replay record of that key) does not.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import count

Place = tuple[str, int]
"""Topic and partition."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One record on its way: `task` is whatever the shells need to carry it on. Made by `Schedule.add`."""

    partition: "Partition"
    offset: int
    hold_key: bytes
    task: object
    size: int
    arrived: float
    running: bool = False
    finished: bool = False


@dataclass(eq=False, slots=True)
class Partition:
    """One partition as long as it is ours: what was read of it and is not behind us."""

    place: Place
    shut: bool = False
    gone: bool = False
    running: int = 0
    size: int = 0
    unfinished: int = 0
    next_offset: int | None = None
    read: deque[Ticket] = field(default_factory=deque)
    lines: dict[bytes, deque[Ticket]] = field(default_factory=dict)
    ready: deque[Ticket] = field(default_factory=deque)
    queued: bool = False

    @property
    def position(self) -> int | None:
        """The offset up to which everything is finished; None before anything was read."""
        return self.read[0].offset if self.read else self.next_offset


class Schedule:
    """At most `per_partition` records of a partition are worked on at a time, and `overall` of all of them."""

    def __init__(self, *, per_partition: int, overall: int) -> None:
        self.running = 0
        self._per_partition = per_partition
        self._overall = overall
        self._partitions: dict[Place, Partition] = {}
        self._queue: deque[Partition] = deque()  # those that may start something, each once, in turn
        self._busy: dict[bytes, list[Ticket]] = {}  # the keys at work, and who waits for them elsewhere
        self._waiting: list[tuple[float, int, Ticket]] = []
        self._order = count()

    def assign(self, place: Place) -> None:
        """A partition is ours."""
        self.forget(place)
        self._partitions[place] = Partition(place)

    def shut(self, place: Place) -> None:
        """From now on no record of the partition starts; what runs may finish."""
        if (partition := self._partitions.get(place)) is not None:
            partition.shut = True

    def forget(self, place: Place) -> list[Ticket]:
        """The partition is not ours any more: whatever still runs of it moves no offset. Gives the records that are
        unfinished and do not run, and never will."""
        if (partition := self._partitions.pop(place, None)) is None:
            return []
        partition.gone = True
        return [ticket for ticket in partition.read if not ticket.finished and not ticket.running]

    def add(self, place: Place, offset: int, hold_key: bytes, task: object, *, now: float, size: int = 0) -> None:
        """A record was read. Ignored where the partition is not ours."""
        partition = self._partitions.get(place)
        if partition is None:
            return
        ticket = Ticket(partition, offset, hold_key, task, size, now)
        partition.read.append(ticket)
        partition.size += size
        partition.unfinished += 1
        partition.next_offset = offset + 1
        line = partition.lines.setdefault(hold_key, deque())
        line.append(ticket)
        if len(line) == 1:
            self._ready(ticket)

    def reached(self, place: Place, offset: int) -> None:
        """The partition was read up to this offset: what is between the last record and it is no record."""
        if (partition := self._partitions.get(place)) is not None:
            partition.next_offset = offset

    def take(self, now: float) -> Ticket | None:
        """The record that starts, or goes on, now; None if none may."""
        self._wake(now)
        while self._queue and self.running < self._overall:
            partition = self._queue.popleft()
            partition.queued = False
            ticket = self._next(partition)
            if ticket is not None:
                ticket.running = True
                self._busy[ticket.hold_key] = []
                self.running += 1
                partition.running += 1
            self._offer(partition)
            if ticket is not None:
                return ticket
        return None

    def later(self, ticket: Ticket, due: float) -> None:
        """The record that was taken goes on at `due`, in its place."""
        self._free(ticket)
        heapq.heappush(self._waiting, (due, next(self._order), ticket))

    def finish(self, ticket: Ticket) -> None:
        """The record that was taken is behind us; the next one of its line may start."""
        self._free(ticket)
        partition = ticket.partition
        ticket.finished, ticket.task = True, None
        partition.unfinished -= 1
        partition.size -= ticket.size
        while partition.read and partition.read[0].finished:
            partition.read.popleft()
        line = partition.lines[ticket.hold_key]
        line.popleft()
        if line:
            self._ready(line[0])
        else:
            del partition.lines[ticket.hold_key]

    def due(self) -> float | None:
        """When a waiting record goes on, the first one; None if none waits."""
        while self._waiting and self._waiting[0][2].partition.gone:
            heapq.heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    def positions(self) -> dict[Place, int]:
        """Up to which offset each partition may be committed: its first unfinished record, or what comes next."""
        return {place: at for place, one in self._partitions.items() if (at := one.position) is not None}

    def backlog(self, place: Place) -> tuple[int, int, int]:
        """How many records of the partition are read and unfinished, how many bytes they have, and how many records
        are kept: the finished ones behind the first unfinished one count there."""
        partition = self._partitions.get(place)
        return (partition.unfinished, partition.size, len(partition.read)) if partition is not None else (0, 0, 0)

    def at_work(self, place: Place) -> int:
        """How many records of the partition run."""
        partition = self._partitions.get(place)
        return partition.running if partition is not None else 0

    def oldest(self) -> float | None:
        """When the oldest unfinished record was read; None if all is finished."""
        return min((one.read[0].arrived for one in self._partitions.values() if one.read), default=None)

    def _wake(self, now: float) -> None:
        while self._waiting and self._waiting[0][0] <= now:
            self._ready(heapq.heappop(self._waiting)[2])

    def _next(self, partition: Partition) -> Ticket | None:
        """The first record of the partition that may start; those whose key is at work elsewhere wait for it."""
        while self._may_start(partition):
            ticket = partition.ready.popleft()
            if ticket.hold_key not in self._busy:
                return ticket
            self._busy[ticket.hold_key].append(ticket)
        return None

    def _may_start(self, partition: Partition) -> bool:
        free = partition.running < self._per_partition
        return bool(free and partition.ready and not partition.shut and not partition.gone)

    def _ready(self, ticket: Ticket) -> None:
        ticket.partition.ready.append(ticket)
        self._offer(ticket.partition)

    def _offer(self, partition: Partition) -> None:
        if not partition.queued and self._may_start(partition):
            partition.queued = True
            self._queue.append(partition)

    def _free(self, ticket: Ticket) -> None:
        """The record does not run any more: its key and its place are free."""
        self.running -= 1
        ticket.running = False
        ticket.partition.running -= 1
        for waiting in self._busy.pop(ticket.hold_key):
            waiting.partition.ready.appendleft(waiting)
            self._offer(waiting.partition)
        self._offer(ticket.partition)
