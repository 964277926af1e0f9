"""The same event id with other content is another event, and poison."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

import pytest

from parking.consumer.errors import Poison
from parking.consumer.gate import Gate
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import Transaction
from parking.consumer.purge import forget
from parking.event_id import conflicting
from parking.fingerprint import fingerprint
from parking.record import Headers, Record
from parking.wire import Announcement, names
from tests.parking.consumer.service import FLOW, Log, Service, at, command, source

LONG = "y" * 1020
"""With coordinates behind it, an id of more than 1 KiB, which becomes a digest."""


def test_other_content_under_a_known_id_is_parked_under_an_id_of_its_own(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("three", 2))
    (conflict, held) = log.announcements
    assert (conflict.kind, conflict.event_id, conflict.value) == ("poison", "e1#s/0/1@1001", b"two")
    assert conflict.attempts[0].error_type == "id-conflict"
    assert conflict.attempts[0].retryable is False
    assert (held.kind, held.blocked_by) == ("held", "e1#s/0/1@1001")
    assert service.effects == [("e1", "one", 0)]


def test_the_conflicting_event_again_is_known(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("two", 1, event_id="e1"))
    assert log.said == ["poison e1#s/0/1@1001"]


def test_a_third_content_is_a_third_event(service: Service, log: Log) -> None:
    service.take(*(source(value, n, event_id="e1") for n, value in enumerate(["one", "two", "three"])))
    assert log.said == ["poison e1#s/0/1@1001", "poison e1#s/0/2@1002"]


def test_the_same_coordinates_in_a_topic_that_was_created_anew_are_another_event(service: Service, log: Log) -> None:
    """The timestamp tells them apart; without an id of their own both are called by coordinates that differ."""
    service.take(source("one", 0, event_id="e1"), replace(source("two", 0, event_id="e1"), timestamp_ms=9_000))
    assert log.said == ["poison e1#s/0/0@9000"]


def test_a_conflict_with_a_held_event_keeps_both(service: Service, log: Log) -> None:
    service.fails[b"one"] = Poison("no")
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"))
    assert log.said == ["poison e1", "poison e1#s/0/1@1001"]


def test_where_the_hold_key_is_the_id_it_is_computed_anew(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, promise="independent"))
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"), source("fine", 2))
    assert log.said == ["poison e1#s/0/1@1001"]
    assert [hold_key for hold_key, _ in log.wires] == [b"e1#s/0/1@1001"]
    assert service.applied == ["e1", "fine"]


def test_a_conflicting_event_is_replayed_under_its_own_id(service: Service, log: Log) -> None:
    service.take(source("one", 0, event_id="e1"), source("two", 1, event_id="e1"))
    service.take(command("apply", log.announcements[0], 10))
    service.release(10)
    assert service.effects == [("e1", "one", 0), ("e1#s/0/1@1001", "two", 10)]
    assert log.said[-1] == "released"
    assert service.seen[-1].source == at(1)


def test_an_id_of_more_than_a_kibibyte_is_a_digest_in_both_forms(service: Service, log: Log) -> None:
    service.take(
        source("one", 0, event_id="x" * 1025),
        source("one", 1, event_id="y" * 1020),
        source("two", 2, event_id="y" * 1020),
    )
    first, second = service.applied
    assert first.startswith("sha256:")
    assert second == "y" * 1020
    assert log.announcements[0].event_id.startswith("sha256:")


def test_a_conflict_is_found_at_the_commit_gate_too(service: Service, make_service, log: Log) -> None:
    """The other event took effect while this one's handler ran."""
    other = make_service()
    service.meanwhile = lambda event: other.take(source("two", 1, event_id="e1"))
    service.take(source("one", 0, event_id="e1"))
    assert log.said == ["poison e1#s/0/0@1000"]
    assert service.effects == [("e1", "two", 0)]


def test_a_conflict_is_found_when_the_failure_is_committed(service: Service, make_service, log: Log) -> None:
    other = make_service()
    service.fails[b"one"] = Poison("no")
    service.meanwhile = lambda event: other.take(source("two", 1, event_id="e1"))
    service.take(source("one", 0, event_id="e1"))
    assert log.said == ["poison e1#s/0/0@1000"]
    assert log.announcements[0].attempts[0].error_type == "id-conflict"


class Between:
    """A ledger at which something happens each time that somebody has looked without a lock."""

    def __init__(self, ledger: Ledger, then: Callable[[], object]) -> None:
        self._ledger = ledger
        self._then = then

    @contextmanager
    def transaction(self, flow: str, *, write: bool = True) -> Iterator[Transaction]:
        with self._ledger.transaction(flow, write=write) as transaction:
            yield transaction
        if not write:
            self._then()


def known(ledger: Ledger) -> list[str]:
    with ledger.transaction("", write=False) as transaction:
        rows, _ = transaction.execute("SELECT event_id FROM siding_fate", {})
    return [bytes(row[0]).decode() for row in rows]


def one_and_two(event_id: str, headers: Headers = ()) -> tuple[Record, Record]:
    first = source("one", 0, event_id=event_id, headers=headers)
    return first, source("two", 1, event_id=event_id, headers=headers)


def hold_again(service: Service, parked: Announcement, token: int, **changes) -> None:
    service.take(command(names.HOLD, parked, token, position=parked.position, kind=parked.kind, **changes))


def lose(service: Service, *event_ids: str) -> None:
    """The database was put back to a time before these were decided."""
    with service.ledger.transaction("") as transaction:
        transaction.execute("DELETE FROM siding_hold", {})
        for event_id in event_ids:
            transaction.execute("DELETE FROM siding_fate WHERE event_id = :id", {"id": event_id.encode()})


@pytest.mark.parametrize("event_id", ["e1", LONG])
@pytest.mark.parametrize("promise", ["keyed", "independent"])
@pytest.mark.parametrize("forgotten", ["after", "before"])
def test_a_renamed_event_that_is_held_again_takes_effect_once(
    make_service, log: Log, event_id: str, promise: str, forgotten: str
) -> None:
    """Also where the purge took the fate of who wore the id before: after it was held again, or before that."""
    service = make_service(replace(FLOW, promise=promise))
    one, two = one_and_two(event_id)
    service.take(one)
    before = service.now()
    service.take(two)
    (renamed,) = log.announcements
    lose(service, renamed.event_id)
    if forgotten == "before":
        assert forget(FLOW.name, service.ledger, before=before) == 1
    hold_again(service, renamed, 10, hold_key=log.wires[0][0])
    service.apply(renamed, 11, hold_key=log.wires[0][0])
    service.release(11, log.wires[0][0])
    forget(FLOW.name, service.ledger, before=before)
    service.take(two)
    assert service.effects == [(event_id, "one", 0), (renamed.event_id, "two", 11)]


@pytest.mark.parametrize("event_id", ["e1", LONG])
def test_a_renamed_event_that_came_again_before_it_is_held_again_took_effect(
    make_service, log: Log, event_id: str
) -> None:
    """Nobody knew any more that another event wore its id before: it took effect under that id."""
    service = make_service()
    one, two = one_and_two(event_id)
    service.take(one, two)
    (renamed,) = log.announcements
    lose(service, event_id, renamed.event_id)
    service.take(two)
    hold_again(service, renamed, 10)
    assert log.said[-1] == f"applied {renamed.event_id}"
    service.apply(renamed, 11)
    assert log.said[-1] == f"applied {renamed.event_id}"
    service.release(12)
    assert (log.outcome.outcome, log.outcome.position) == ("released", renamed.position + 1)
    assert service.effects == [(event_id, "one", 0), (event_id, "two", 0)]


@pytest.mark.parametrize("event_id", ["e1", LONG])
@pytest.mark.parametrize("fails", [False, True])
def test_a_renamed_event_that_is_held_under_the_id_it_wore_takes_effect_once(
    make_service, log: Log, event_id: str, fails: bool
) -> None:
    """It came again while its key was held again, before its own hold record, and waited, or failed, under that id."""
    service = make_service()
    service.fails[b"zero"] = Poison("no")
    one, two = one_and_two(event_id)
    service.take(one, source("zero", 5), two, source("three", 6))
    zero, renamed, three = log.announcements
    service.fails.clear()
    lose(service, event_id, "zero", renamed.event_id, "three")
    if fails:
        service.fails[b"two"] = Poison("no")
        service.take(two)
        service.fails.clear()
        hold_again(service, zero, 10)
    else:
        hold_again(service, zero, 10)
        service.take(two)
    again = log.announcements[-1]
    assert again.event_id == event_id
    hold_again(service, three, 10)
    hold_again(service, renamed, 10)
    assert (log.said[-1], log.outcome.position) == (f"held {renamed.event_id}", renamed.position)
    for parked in (zero, renamed, three, again):
        service.apply(parked, 11)
        assert log.said[-1] == f"applied {parked.event_id}"
    service.release(11)
    assert log.said[-1] == "released"
    service.take(two)
    assert [(value, token) for _, value, token in service.effects] == [
        ("one", 0), ("zero", 11), ("two", 11), ("three", 11),
    ]  # fmt: skip


def test_a_renamed_event_that_is_held_in_the_key_of_its_former_id_is_settled_there(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, promise="independent"))
    one, two = one_and_two("e1")
    service.take(one, two)
    (renamed,) = log.announcements
    lose(service, "e1", renamed.event_id)
    service.fails[b"two"] = Poison("no")
    service.take(two)
    service.fails.clear()
    hold_again(service, renamed, 10, hold_key=b"e1#s/0/1@1001")
    assert log.outcome.outcome == "refused"
    assert "'e1'" in (log.outcome.reason or "")
    service.apply(log.announcements[-1], 11, hold_key=b"e1")
    hold_again(service, renamed, 12, hold_key=b"e1#s/0/1@1001")
    assert log.said[-1] == f"applied {renamed.event_id}"
    assert service.effects == [("e1", "one", 0), ("e1", "two", 11)]


@pytest.mark.parametrize("event_id", ["e1", LONG])
@pytest.mark.parametrize("key", [b"k", b"j"])
def test_the_first_wearer_that_came_again_renamed_takes_effect_once(
    make_service, log: Log, event_id: str, key: bytes
) -> None:
    """The second one was held again before it: so it got a name of its own, by which the console never knew it."""
    service = make_service()
    service.fails[b"one"] = Poison("no")
    one, two = one_and_two(event_id)
    service.take(one, replace(two, key=key))
    first, second = log.announcements
    service.fails.clear()
    lose(service, event_id, second.event_id)
    hold_again(service, second, 10, hold_key=key)
    service.take(one)
    renamed = log.announcements[-1]
    assert renamed.event_id == conflicting(event_id, one.coordinates)
    hold_again(service, first, 10)
    assert log.said[-1] == f"held {event_id}"
    for parked in (first, renamed):
        service.apply(parked, 11)
        assert log.said[-1] == f"applied {parked.event_id}"
    assert service.effects == [(renamed.event_id, "one", 11)]
    service.apply(second, 12, hold_key=key)
    for released in (b"k", key):
        service.release(12, released)
        assert log.said[-1] == "released"


@pytest.mark.parametrize("state", ["held", "applied"])
@pytest.mark.parametrize("event_id", ["e1", LONG])
def test_what_the_second_wearer_became_is_not_the_fate_of_the_first(
    make_service, log: Log, event_id: str, state: str
) -> None:
    """Only the second one came again, before the hold records: it wears the id of the first in the ledger now."""
    service = make_service()
    service.fails[b"one"] = Poison("no")
    one, two = one_and_two(event_id)
    service.take(one, two)
    first, renamed = log.announcements
    service.fails = {b"two": Poison("no")} if state == "held" else {}
    lose(service, event_id, renamed.event_id)
    service.take(two)
    service.fails.clear()
    hold_again(service, first, 10)
    assert (log.said[-1], log.outcome.position) == (f"held {event_id}", first.position)
    hold_again(service, renamed, 10)
    assert log.said[-1] == f"{state} {renamed.event_id}"
    service.take(one, two)
    for parked in (first, renamed):
        service.apply(parked, 11)
        assert log.said[-1] == f"applied {parked.event_id}"
        assert log.outcome.fingerprint == parked.fingerprint
    service.release(11)
    assert log.said[-1] == "released"
    service.take(one, two)
    assert sorted(value or "" for _, value, _ in service.effects) == ["one", "two"]


def test_a_first_wearer_that_is_held_in_a_key_of_its_own_is_settled_there(make_service, log: Log) -> None:
    """Where the id is the hold key, the name of its own made another key of it: that one has to be replayed first."""
    service = make_service(replace(FLOW, promise="independent"))
    service.fails[b"one"] = Poison("no")
    one, two = one_and_two("e1")
    service.take(one, two)
    first, second = log.announcements
    service.fails.clear()
    lose(service, "e1", second.event_id)
    hold_again(service, second, 10, hold_key=b"e1#s/0/1@1001")
    service.take(one)
    renamed = log.announcements[-1]
    hold_again(service, first, 10, hold_key=b"e1")
    assert log.outcome.outcome == "refused"
    assert "'e1#s/0/0@1000'" in (log.outcome.reason or "")
    service.apply(first, 11, hold_key=b"e1")
    assert log.said[-1] == "not-held e1"
    service.apply(renamed, 11, hold_key=b"e1#s/0/0@1000")
    hold_again(service, first, 12, hold_key=b"e1")
    assert log.said[-1] == "applied e1"
    service.release(12, b"e1")
    assert (log.outcome.outcome, log.outcome.position) == ("released", (first.position or 0) + 1)
    assert service.effects == [(renamed.event_id, "one", 11)]


def test_a_renamed_event_whose_bytes_are_lost_says_itself_what_it_wore_before(service: Service, log: Log) -> None:
    one, two = one_and_two("e1")
    service.take(one, two)
    (renamed,) = log.announcements
    lose(service, "e1", renamed.event_id)
    bare = replace(renamed, headers=(), value=None)
    hold_again(service, bare, 10, fingerprint=fingerprint(bare.key, bare.value, bare.headers))
    service.take(two)
    assert log.said[-1] == f"held {renamed.event_id}"
    assert service.applied == ["e1"]


def test_the_first_wearer_of_an_id_is_parked_where_only_the_second_is_known(service: Service, log: Log) -> None:
    """It may have taken effect before: nobody knows any more, so a person decides."""
    one, two = one_and_two("e1")
    service.take(one, two)
    lose(service, "e1")
    service.take(one)
    assert log.said[-1] == "poison e1#s/0/0@1000"
    assert service.applied == ["e1"]


def test_the_fate_of_the_base_may_go_while_the_conflict_is_found(make_service, log: Log) -> None:
    """Between the look and the lock. The renamed event stands for it."""
    service = make_service()
    one, two = one_and_two("e1")
    service.take(one)
    purged = Between(service.ledger, lambda: forget(FLOW.name, service.ledger, before=service.now()))
    gate = Gate(FLOW, cast("Ledger", purged), service.now)
    gate.begin(two)
    assert known(service.ledger) == ["e1#s/0/1@1001"]
    service.outbox.publish()
    service.apply(log.announcements[0], 10)
    service.release(10)
    service.take(two, two)
    assert service.effects == [("e1", "one", 0), ("e1#s/0/1@1001", "two", 10)]
