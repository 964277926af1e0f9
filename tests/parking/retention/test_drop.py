"""Days go whole, when everything in them is settled and due; what a replay refers to stays as its narrow row."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from parking import days
from parking.models import (
    Attempt,
    Decision,
    DroppedDay,
    EventSearch,
    EventState,
    IndexedDay,
    JournalEntry,
    KeptDay,
    Outcome,
    ParkedEvent,
    ParkedRecord,
    Quarantine,
)
from parking.retention import drop, sweep
from parking.retention.purge import purge_due
from parking.search.index import catch_up
from replay.models import Replay, Step
from tests.parking.retention.conftest import START, WATCH

DAY = START.date()


def test_a_day_goes_when_all_of_it_is_due_and_gives_its_partitions_back(store):
    store.done("k")
    catch_up()
    store.wait(59)
    purge_due()
    assert DAY in days.existing()
    assert ParkedEvent.objects.count() == 2
    store.wait(2)
    purge_due()
    assert DAY not in days.existing()
    assert [model.objects.count() for model in (ParkedEvent, EventSearch, IndexedDay, EventState, Attempt)] == [0] * 5
    assert not Outcome.objects.filter(event_digest__isnull=False).exists()
    assert not ParkedRecord.objects.filter(event_state__isnull=False).exists()
    assert DroppedDay.objects.get(day=DAY).events == 2
    entry = JournalEntry.objects.get(verb="drop day", detail__day=DAY.isoformat())
    assert (entry.flow, entry.detail["events"]) == (store.flow(), 2)


def test_one_event_that_waits_keeps_its_day(store):
    store.done("k")
    store.park("open")
    store.wait(100)
    purge_due()
    kept = KeptDay.objects.get(day=DAY)
    assert (kept.events, kept.waiting, kept.due_at) == (4, 2, None)
    assert ParkedEvent.objects.count() == 4
    assert store.state("k-1").scrubbed_at is not None
    store.settle("open")
    store.release("open")
    store.wait(61)
    purge_due()
    assert ParkedEvent.objects.count() == 0


def test_a_flow_that_keeps_longer_keeps_the_day(store):
    store.flow("long", metadata_days=90)
    store.done("a", "long")
    store.done("b", "payments")
    store.wait(61)
    purge_due()
    kept = KeptDay.objects.get(day=DAY)
    assert (kept.waiting, kept.due_at) == (0, START + timedelta(90))
    assert ParkedEvent.objects.count() == 4


def test_what_comes_back_between_the_look_and_the_drop_stays(store):
    store.done("k")
    store.wait(61)
    kept = drop.look(timezone.now())
    assert kept is not None
    assert kept.waiting == 0
    lot = store.lots["payments"]
    lot.store(lot.answer("held", "k-1", key=b"k", token=99))
    assert drop.drop(day=DAY, actor=WATCH) is False
    assert DAY in days.existing()


def test_nobody_has_to_wait_behind_a_drop(store):
    """Somebody reads the table and does not end: the drop gives up and comes again."""
    store.done("k")
    store.wait(61)
    other = connection.copy()
    with other.cursor() as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM parking_parkedevent")
        done = []
        thread = threading.Thread(target=lambda: done.append(dropped()))
        thread.start()
        thread.join(60)
        assert done == [False]
        reader.execute("ROLLBACK")
    other.close()
    assert drop.drop(day=DAY, actor=WATCH) is True


def dropped() -> bool:
    try:
        return drop.drop(day=DAY, actor=WATCH)
    finally:
        connection.close()


def test_days_that_are_still_filled_are_not_looked_at(store):
    days.ensure(DAY, ahead=1)
    store.flow()
    store.wait(1)
    assert drop.look(timezone.now()) is None or DAY not in set(KeptDay.objects.values_list("day", flat=True))
    assert DAY in days.existing()


def test_empty_days_go_too(store):
    days.ensure(DAY, ahead=0)
    store.wait(4)
    purge_due()
    assert DAY not in days.existing()
    assert not DroppedDay.objects.filter(swept_to__lt=F("last_id")).exists()


def test_who_approved_what_stays(store):
    """Case RET-03: the step, its event's narrow row and its decision; the metadata of both events is gone."""
    store.done("k")
    event = store.state("k-1")
    actor = {"actor_id": "user:1", "actor_name": "ann", "at": timezone.now()}
    Decision.objects.create(event_state=event, action="apply", reason="looked at", **actor)
    replay = Replay.objects.create(
        quarantine=Quarantine.objects.get(), flow=store.flow(), digest=bytes(32), follow_cap=1, pace_per_second=1,
        window=1, requested_by_id="user:1", requested_by_name="ann", reason="again", expires_at=timezone.now(),
    )  # fmt: skip
    Step.objects.create(replay=replay, ordinal=1, event_state=event, position=10, action="apply", fingerprint=bytes(32))
    store.wait(61)
    purge_due()
    assert list(EventState.objects.values_list("pk", flat=True)) == [event.pk]
    assert Step.objects.get().event_state == event
    assert Decision.objects.get().reason == "looked at"
    assert Attempt.objects.count() == 0
    assert DroppedDay.objects.get(day=DAY).swept_to == event.pk + 1
    assert sweep.sweep() == 0


def test_the_sweep_goes_in_bounded_steps_and_goes_on_where_it_was(store):
    for number in range(3):
        store.done(f"k{number}")
    store.wait(61)
    assert drop.look(timezone.now())
    assert drop.drop(day=DAY, actor=WATCH)
    assert [sweep.sweep(most=4) for _ in range(3)] == [4, 2, 0]
    assert EventState.objects.count() == 0


@pytest.mark.parametrize("model", [EventState, ParkedEvent])
def test_nothing_else_may_delete_what_waits(store, model):
    store.park("k")
    with pytest.raises(Exception, match="it stays"):
        model.objects.all()._raw_delete("default")
