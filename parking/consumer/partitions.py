"""The partitions that are ours: what is read of them goes into the schedule, what is finished is told."""

from collections.abc import Callable, Iterable

from parking.consumer.dispatch import Dispatch, Read
from parking.consumer.flow import Flow
from parking.consumer.limits import Limits
from parking.consumer.process import Process
from parking.consumer.schedule import Place
from parking.consumer.subscription import Reached
from parking.consumer.suspects import Suspects
from parking.event_id import event_id
from parking.record import Record


class Partitions:
    """Owns a subscription's partitions. `arrived` is called when some came."""

    def __init__(
        self,
        flow: Flow,
        dispatch: Dispatch,
        limits: Limits,
        process: Process,
        *,
        arrived: Callable[[], None],
        suspects: Suspects,
    ) -> None:
        self._flow = flow
        self._dispatch = dispatch
        self._limits = limits
        self._process = process
        self._suspects = suspects
        self._arrived = arrived
        self._full: set[Place] = set()

    def put(self, read: Iterable[Record | Reached]) -> None:
        """What was read goes into the schedule."""
        records: list[Read] = []
        for one in read:
            if isinstance(one, Record):
                records.append(self._line_up(one))
            else:
                self._dispatch.add(records)
                self._dispatch.reached(one.place, one.offset)
                records = []
        self._dispatch.add(records)

    def full(self, places: Iterable[Place]) -> set[Place]:
        """The partitions of which nothing more should be read: until half of what is kept of them is done."""
        self._full = {place for place in places if self._is_full(place)}
        return self._full

    def assigned(self, places: list[Place]) -> None:
        self._suspects.assigned(places)
        self._dispatch.assign(places)
        self._arrived()

    def revoked(self, places: list[Place]) -> dict[Place, int]:
        drained = self._dispatch.drain(places, self._limits.drain)
        orderly = self._dispatch.broken is None
        self._suspects.give_back(places, clean=drained and orderly, orderly=orderly)
        positions = {place: at for place, at in self._dispatch.positions().items() if place in set(places)}
        self._dispatch.forget(places)
        return positions

    def lost(self, places: list[Place]) -> None:
        self._dispatch.forget(places)
        self._suspects.give_back(places, clean=False, orderly=False)

    def _line_up(self, record: Record) -> Read:
        size = len(record.key or b"") + len(record.value or b"")
        place = (record.topic, record.partition)
        return Read(place, record.offset, self._line(record), self._process.course(record), size)

    def _line(self, record: Record) -> bytes:
        """The hold key, as far as the record itself tells; the gate decides."""
        if record.topic == self._flow.replay_topic:
            return record.key or b""
        return self._flow.hold_key(record.key, event_id(record))

    def _is_full(self, place: Place) -> bool:
        share = 0.5 if place in self._full else 1.0
        records, size, kept = self._dispatch.backlog(place)
        limits = self._limits
        many = records >= limits.buffer * share or kept >= limits.kept * share
        return many or size >= limits.buffer_bytes * share
