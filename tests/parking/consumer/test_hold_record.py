"""Hold records: what a restored ledger has forgotten is held again, at the position that the console knows."""

from collections.abc import Callable
from typing import Any

import pytest

from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Fate, Hold
from parking.consumer.step import Work
from parking.wire import Announcement, names
from tests.parking.consumer.service import FLOW, Log, Service, command, source

TABLES = ("siding_hold", "siding_fate", "siding_announcement", "effect")


@pytest.fixture
def parked(service: Service, log: Log) -> list[Announcement]:
    """Poison e1 and held e2, e3, as the console has them."""
    service.fails[b"e1"] = ValueError("no")
    service.take(*(source(name, number) for number, name in enumerate(("e1", "e2", "e3"))))
    service.fails.clear()
    return log.announcements


def lose(ledger: Ledger) -> None:
    """The service's database is empty again."""
    with ledger.transaction("") as transaction:
        for table in TABLES:
            transaction.connection.execute(f"DELETE FROM {table}")


def hold(service: Service, parked: Announcement, token: int, **changes: Any) -> None:
    number = parked.attempts[-1].number if parked.attempts else 0
    known = {"position": parked.position, "kind": parked.kind, "attempt_number": number}
    service.take(command(names.HOLD, parked, token, **(known | changes)))


def key(service: Service) -> Hold:
    with service.ledger.transaction(FLOW.name) as transaction:
        return transaction.lock(b"k")


def fate(service: Service, event_id: str) -> Fate:
    with service.ledger.transaction(FLOW.name) as transaction:
        found = transaction.fate(event_id)
    assert found is not None
    return found


def test_a_lost_quarantine_is_held_again_and_replayed_in_its_order(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    lose(service.ledger)
    for one in (parked[2], parked[0], parked[1]):
        hold(service, one, 10)
    assert log.said[3:] == ["held e3", "held e1", "held e2"]
    assert [outcome.position for outcome in log.outcomes] == [parked[n].position for n in (2, 0, 1)]
    assert key(service).quarantined
    service.take(source("e4", 3))
    assert log.said[-1] == "held e4"
    assert log.announcements[-1].position > parked[2].position
    for one in log.announcements:
        service.apply(one, 11)
    service.release(11)
    assert log.said[-5:] == ["applied e1", "applied e2", "applied e3", "applied e4", "released"]
    assert log.outcome.position is not None
    assert log.outcome.position > max(one.position for one in log.announcements)


def test_what_it_knows_is_answered_by_the_fact(service: Service, log: Log, parked: list[Announcement]) -> None:
    service.apply(parked[0], 10)
    service.skip(parked[1], 10)
    for one in parked:
        hold(service, one, 11)
    assert log.said[-3:] == ["applied e1", "skipped e2", "held e3"]
    assert [(outcome.token, outcome.fate_token) for outcome in log.outcomes[-3:]] == [(11, 10), (11, 10), (11, None)]
    assert fate(service, "e3").position == parked[2].position
    assert service.applied == ["e1"]


def test_a_release_is_behind_what_came_again_live(service: Service, log: Log, parked: list[Announcement]) -> None:
    """The console looks at the position: without it, it would take the ledger for lost again and again."""
    lose(service.ledger)
    service.take(source("e1", 0), source("e2", 1))
    hold(service, parked[0], 10)
    assert log.said[-1] == "applied e1"
    service.release(11)
    assert log.outcome.position == (parked[0].position or 0) + 1, "of e2 it was not told yet"
    hold(service, parked[1], 12)
    service.release(13)
    assert log.outcome.position == (parked[1].position or 0) + 1
    service.fails[b"e4"] = ValueError("no")
    service.take(source("e4", 3))
    hold(service, parked[2], 14)
    service.take(source("e5", 4))
    assert (log.announcements[-1].position or 0) > (parked[2].position or 0)
    service.release(14)
    assert log.said[-1] == "still-held"


def test_what_came_again_before_its_hold_record_gets_its_place_back(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    """It was held behind all others meanwhile; the console's order is that of the positions it was told first."""
    lose(service.ledger)
    hold(service, parked[0], 10)
    service.take(source("e2", 1))
    hold(service, parked[2], 10)
    hold(service, parked[1], 10)
    assert log.outcome.position == fate(service, "e2").position == parked[1].position
    service.take(source("e3", 2))
    for one in parked:
        service.apply(one, 11)
    service.release(11)
    assert log.said[-4:] == ["applied e1", "applied e2", "applied e3", "released"]


def test_an_older_plan_moves_nothing(service: Service, log: Log, parked: list[Announcement]) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    service.take(source("e2", 1))
    before = fate(service, "e2").position
    hold(service, parked[1], 9)
    assert log.said[-1] == "fenced e2"
    assert fate(service, "e2").position == before
    hold(service, parked[1], 11)
    hold(service, parked[2], 10)
    assert log.said[-1] == "fenced e3"


def test_a_hold_record_that_comes_again_changes_nothing(service: Service, log: Log, parked: list[Announcement]) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    before = key(service), fate(service, "e1")
    hold(service, parked[0], 10)
    hold(service, parked[0], 12)
    assert (key(service), fate(service, "e1")) == before
    assert log.said[3:] == ["held e1"] * 3


def test_an_older_plan_holds_nothing(service: Service, log: Log, parked: list[Announcement]) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    hold(service, parked[1], 9)
    assert log.said[-1] == "fenced e2"
    assert log.outcome.floor == 10
    hold(service, parked[0], 9)
    assert log.said[-1] == "fenced e1"


def test_it_fences_the_plans_before_it(service: Service, log: Log, parked: list[Announcement]) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    service.apply(parked[0], 9)
    assert log.said[-1] == "fenced e1"
    assert service.applied == []


def test_kind_and_tries_are_kept(service: Service, log: Log, parked: list[Announcement]) -> None:
    """The next failure is the fourth; a poison event among what is held lets no source owner wait."""
    lose(service.ledger)
    hold(service, parked[0], 10)
    assert (fate(service, "e1").kind, fate(service, "e1").attempt_number) == ("poison", 3)
    service.fails[b"e1"] = ValueError("again")
    service.apply(parked[0], 11)
    assert [tried.number for tried in log.outcome.attempts] == [4, 5, 6] or log.outcome.attempts[0].number == 4
    hold(service, parked[1], 12)
    service.release(12)
    assert key(service).buffer_until is None


def test_a_position_that_another_held_event_has_is_refused(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    hold(service, parked[1], 10, position=parked[0].position)
    assert log.outcome.outcome == "refused"
    assert (log.outcome.reason or "").endswith(f"{parked[0].position} is that of the held event 'e1'")
    hold(service, parked[1], 10)
    assert log.said[-1] == "held e2"


def test_the_same_source_record_is_known_afterwards(service: Service, log: Log, parked: list[Announcement]) -> None:
    lose(service.ledger)
    hold(service, parked[0], 10)
    service.take(source("e1", 0), source("e1", 7, headers=(("try", b"2"),)))
    assert log.said[3:] == ["held e1"]
    service.take(source("other", 8, event_id="e1"))
    assert log.said[-1].startswith("poison e1#s/0/8@")


def test_a_live_success_meanwhile_is_the_fact(
    make_service: Callable[..., Service], log: Log, parked: list[Announcement]
) -> None:
    """The restored consumer reads e2 again and its handler runs while the hold records come."""
    first, second = make_service(), make_service()
    lose(first.ledger)
    work = first.gate.begin(source("e2", 1))
    assert isinstance(work, Work)
    hold(second, parked[0], 10)
    hold(second, parked[1], 10)
    step = work.applied(first.process_effect(work.event))
    assert log.said[-2:] == ["held e1", "held e2"]
    assert first.applied == [], f"it came too late: {step}"


def test_an_event_that_is_applied_already_is_not_held_again(
    service: Service, log: Log, parked: list[Announcement]
) -> None:
    lose(service.ledger)
    service.take(source("e2", 1))
    hold(service, parked[0], 10)
    hold(service, parked[1], 10)
    assert log.said[-2:] == ["held e1", "applied e2"]
    assert log.outcome.fate_token == 0
