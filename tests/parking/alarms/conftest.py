import pytest

from tests.alarm_story import Lot, hook, intake_lives, make_flow


@pytest.fixture
def flow(db):
    return make_flow("orders")


@pytest.fixture
def lot(flow):
    return Lot(flow)


@pytest.fixture
def pager(flow):
    """A hook of the flow's team."""
    return hook(flow.team, name="pager")


@pytest.fixture
def alive(db):
    intake_lives()
