"""Keys in any state, at any time: what intake stored while the clock stood there."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from parking.actor import system
from parking.attempt import ValidationError
from parking.models import EventState, Flow
from parking.search.find import find
from parking.search.grammar import parse
from parking.search.index import catch_up
from tests.parking.intake.conftest import Lot, attempt, make_flow, make_lot

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
WATCH = system("watch")
SECRET = "4000000000000002"


class Store:
    """Two events of each key: one poison, one held."""

    def __init__(self, clock: time_machine.Traveller) -> None:
        self.clock = clock
        self.lots: dict[str, Lot] = {}

    def flow(self, name: str = "payments", **changes) -> Flow:
        if name not in self.lots:
            self.lots[name] = make_lot(make_flow(name, **({"payload_days": 30, "metadata_days": 60} | changes)))
        return self.lots[name].flow

    def wait(self, days: float) -> None:
        self.clock.shift(timedelta(days=days))

    def park(self, key: str, flow: str = "payments") -> None:
        self.flow(flow)
        lot = self.lots[flow]
        wrong = ValidationError("/card", "a card that is valid", SECRET, "")
        tried = attempt(message=f"invalid card {SECRET}", validation_errors=(wrong,))
        more = {"key": key.encode(), "value": f'{{"card": "{SECRET}"}}'.encode(), "headers": (("x", SECRET.encode()),)}
        poison = lot.poison(f"{key}-1", 10, attempts=(tried,), evidence={"prompt": SECRET}, **more)
        lot.store(poison, lot.held(f"{key}-2", 11, **more))

    def settle(self, key: str, numbers=(1, 2), flow: str = "payments") -> None:
        lot = self.lots[flow]
        for number in numbers:
            lot.store(lot.answer("applied", f"{key}-{number}", key=key.encode(), fate_token=5))

    def release(self, key: str, flow: str = "payments") -> None:
        lot = self.lots[flow]
        lot.store(lot.answer("released", key=key.encode(), position=12))

    def done(self, key: str, flow: str = "payments") -> None:
        """Parked, settled and released at this moment."""
        self.park(key, flow)
        self.settle(key, flow=flow)
        self.release(key, flow)

    def state(self, event_id: str) -> EventState:
        return EventState.objects.get(event__event_id=event_id)

    def found(self, text: str, **more) -> list[str]:
        catch_up()
        flows = [lot.flow.pk for lot in self.lots.values()]
        answer = find(parse(text), visible=flows, readable=flows, **more)
        return [hit.event.event_id for hit in answer.hits]


@pytest.fixture
def store(transactional_db: None) -> Iterator[Store]:
    with time_machine.travel(START, tick=False) as clock:
        yield Store(clock)
