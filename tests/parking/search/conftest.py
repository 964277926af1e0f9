"""Events that intake stored, and questions about them."""

import pytest

from parking.models import Flow
from parking.search import segments
from parking.search.find import Answer, find
from parking.search.grammar import parse
from parking.search.index import catch_up
from tests.parking.intake.conftest import Lot, attempt, make_flow, make_lot


class Shelf:
    """Events of some flows, and what a viewer of them finds."""

    def __init__(self) -> None:
        self.lots: dict[str, Lot] = {}
        self.position = 0

    def flow(self, name: str = "payments", **changes) -> Flow:
        if name not in self.lots:
            self.lots[name] = make_lot(make_flow(name, **changes))
        return self.lots[name].flow

    def park(
        self, event_id: str, *, flow: str = "payments", message="it is broken", error_type="ValueError", **more
    ) -> None:
        """One poison event, stored as intake stores it."""
        self.flow(flow)
        self.position += 1
        tried = (attempt(error_type=error_type, message=message),)
        lot = self.lots[flow]
        lot.store(lot.poison(event_id, self.position, attempts=tried, **more))

    def index(self) -> int:
        return catch_up()

    def ask(self, text: str, *, visible=None, readable=None, **more) -> Answer:
        flows = [lot.flow.pk for lot in self.lots.values()]
        seen = flows if visible is None else [self.lots[name].flow.pk for name in visible]
        read = seen if readable is None else [self.lots[name].flow.pk for name in readable]
        return find(parse(text), visible=seen, readable=read, **more)

    def found(self, text: str, **more) -> list[str]:
        return [hit.event.event_id for hit in self.ask(text, **more).hits]


@pytest.fixture
def shelf(db: None) -> Shelf:
    return Shelf()


@pytest.fixture(params=["open", "sorted in"])
def segment(request, monkeypatch) -> None:
    """Entries are looked for in the open segment, row by row, or by an index of words: by other conditions."""
    if request.param == "sorted in":
        monkeypatch.setattr(segments, "SPAN", 1)
