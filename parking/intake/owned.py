"""A partition that this process reads, and what people are told of how far it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from parking.intake import positions
from parking.kafka_in import Log, Look, Place
from parking.models import TopicIncarnation


class Mark(NamedTuple):
    """The end of a log as a look saw it."""

    end: int
    at: datetime


@dataclass(slots=True)
class Owned:
    """`position_id`: of the IntakePosition, whose lock this process has."""

    topic: TopicIncarnation
    partition: int
    position_id: int
    next_offset: int
    marks: list[Mark] = field(default_factory=list)

    @property
    def place(self) -> positions.Partition:
        return self.topic.pk, self.partition

    def seen(self, log: Log, at: datetime) -> positions.Seen:
        """What a look that began at `at` says. All that was in the log when an earlier one began is stored as soon as
        the position has passed the end that it saw.
        """
        marks = [*self.marks, Mark(log.end, at)]
        passed = [mark for mark in marks if mark.end <= self.next_offset]
        self.marks = [mark for mark in marks if mark.end > self.next_offset][:1]
        return positions.Seen(self.position_id, log.start, log.end, passed[-1].at if passed else None)


def note(owned: Mapping[Place, Owned], look: Look) -> None:
    """Write down what the logs were like."""
    seen = [owned[name].seen(look.logs[name], look.at) for name in owned.keys() & look.logs.keys()]
    positions.note(seen, look.at)


def pass_marks(owned: Mapping[Place, Owned], reached: Mapping[Place, int]) -> None:
    """Behind the last record of a log may stand the marks of transactions, and what was aborted: they are read."""
    passed = {name: end for name, end in reached.items() if name in owned and owned[name].next_offset < end}
    if passed:
        positions.advance({owned[name].place: (owned[name].next_offset, end) for name, end in passed.items()})
        for name, end in passed.items():
            owned[name].next_offset = end
