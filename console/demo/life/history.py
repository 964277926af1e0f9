"""What is to happen, in any order until it is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from console.demo.life.arrivals import Parked
from console.demo.life.cases import Case

Deed = Callable[[], object]


@dataclass
class History:
    """`events` is how many parked events there are so far."""

    parked: list[Parked] = field(default_factory=list)
    deeds: list[tuple[datetime, Deed]] = field(default_factory=list)
    events: int = 0

    def park(self, case: Case) -> Case:
        self.parked += [Parked(case.flow, event.at, event.wire) for event in case.events]
        self.events += len(case.events)
        return case

    def do(self, at: datetime, deed: Deed) -> None:
        self.deeds.append((at, deed))
