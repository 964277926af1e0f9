"""What is kept of a partition is bounded, whatever waits at its head."""

import pytest

from parking.consumer.dispatch import Dispatch
from parking.consumer.limits import Limits
from parking.consumer.partitions import Partitions
from parking.consumer.schedule import Schedule, Ticket
from parking.consumer.suspects import Suspects
from tests.parking.consumer.service import FLOW, Service, source

PLACE = (FLOW.source_topic, 0)
LIMITS = Limits(buffer=2)


@pytest.fixture
def dispatch() -> Dispatch:
    return Dispatch(Schedule(per_partition=100, overall=100))


@pytest.fixture
def partitions(service: Service, dispatch: Dispatch) -> Partitions:
    suspects = Suspects(FLOW.name, service.ledger, 3, LIMITS.suspects)
    made = Partitions(FLOW, dispatch, LIMITS, service.process, arrived=lambda: None, suspects=suspects)
    made.assigned([PLACE])
    return made


def read_and_finish(partitions: Partitions, dispatch: Dispatch, offset: int) -> None:
    partitions.put([source(f"e{offset}", offset, key=b"k%d" % offset)])
    dispatch.worked(taken(dispatch), None)


def taken(dispatch: Dispatch) -> Ticket:
    ticket, _ = dispatch.take()
    assert ticket is not None
    return ticket


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
def test_a_waiting_head_does_not_let_what_is_finished_behind_it_grow_for_ever(
    partitions: Partitions, dispatch: Dispatch
) -> None:
    partitions.put([source("head", 0)])
    head = taken(dispatch)
    most = LIMITS.kept
    for offset in range(1, most):
        assert partitions.full([PLACE]) == set()
        read_and_finish(partitions, dispatch, offset)
    assert partitions.full([PLACE]) == {PLACE}
    dispatch.worked(head, None)
    assert partitions.full([PLACE]) == set()
    assert dispatch.positions() == {PLACE: most}
