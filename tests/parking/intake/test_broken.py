"""One record never takes its batch with it, and nothing that arrives is dropped."""

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from parking.dialects import native
from parking.intake.ahead import Ahead, Batch
from parking.intake.flows import facts, who
from parking.intake.loop import Intake
from parking.intake.owned import Owned
from parking.intake.positions import Moved
from parking.intake.source import Source
from parking.intake.store import OtherContent, read_all
from parking.models import EventState, IntakePosition, ParkedRecord, Quarantine, Rollup
from parking.trouble import Troubles

from .conftest import make_flow, make_lot, moved, value_of


def batch_of_100(lot, bad):
    return [lot.poison(f"e{n}", n, key=b"%d" % (n % 10)) if n != 37 else bad for n in range(1, 101)]


def test_a_malformed_record_in_the_middle(lot):
    lot.store(*batch_of_100(lot, lot.record(b"k", b"v", [("siding-version", b"1"), ("siding-kind", b"poison")])))
    assert EventState.objects.filter(kind="poison").count() == 99
    event = EventState.objects.not_understood().get()
    assert (event.kind, event.quarantine, value_of(event)) == ("broken", None, b"v")
    assert event.event.unreadable_reason == "header siding-flow: expected a value, arrived nothing"
    assert IntakePosition.objects.get().next_offset == 100
    assert Rollup.objects.get().other == 1


def refuse(error):
    """A trigger by which the database refuses the event e37."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.event_id = 'e37' "
            f"THEN RAISE EXCEPTION 'no e37' USING ERRCODE = '{error}'; END IF; RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON parking_parkedevent FOR EACH ROW EXECUTE FUNCTION refuse()"
        )


@pytest.mark.parametrize("error", ["22021", "23514", "P0001"])
def test_the_database_refuses_one(lot, error):
    """Case ING-03."""
    refuse(error)
    batch = batch_of_100(lot, lot.poison("e37", 37))
    assert lot.store(*batch, broken=1).records == 100
    assert EventState.objects.filter(kind="poison").count() == 99
    event = EventState.objects.not_understood().get()
    assert event.event.unreadable_reason.startswith("Could not be stored whole: ")
    assert "no e37" in event.event.unreadable_reason
    assert value_of(event) == b"{}"
    assert IntakePosition.objects.get().next_offset == 100
    lot.rewind()
    assert lot.store(*batch).records == 0
    assert EventState.objects.count() == 100


@pytest.mark.parametrize("error", [SystemError, ValueError, RecursionError, UnicodeEncodeError("utf-8", "", 0, 1, "x")])
def test_reading_one_fails_in_an_unforeseen_way(lot, monkeypatch, error):
    read = native.read

    def fail(record, layout):
        if record.offset == 36:
            raise error
        return read(record, layout)

    monkeypatch.setattr(native, "read", fail)
    lot.store(*batch_of_100(lot, lot.poison("e37", 37)))
    assert EventState.objects.filter(kind="broken").count() == 1
    assert EventState.objects.count() == 100


def test_an_event_whose_position_is_taken_is_kept_raw(lot):
    lot.store(lot.poison("e1", 10))
    lot.store(lot.held("e2", 10), lot.held("e3", 12), broken=1)
    assert EventState.objects.get(kind="broken").event.unreadable_reason.startswith("Could not be stored whole")
    assert [e.event.event_id for e in EventState.objects.unsettled(lot.quarantine)] == ["e1", "e3"]


def test_a_database_that_is_away_is_no_record_s_fault(lot):
    refuse("53100")  # disk full
    with pytest.raises(OperationalError):
        lot.store(lot.poison("e37", 37))
    assert EventState.objects.count() == 0
    assert IntakePosition.objects.get().next_offset == 0


def test_unknown_dialects_and_flows_are_unattributed(lot):
    stranger = make_lot(make_flow("stranger"))
    foreign = stranger.poison("e1", 1).record
    lot.store(
        lot.record(b"k", b"v", [("x-original-topic", b"t"), ("x-error", b"boom")]),
        lot.record(foreign.key, foreign.value, foreign.headers),
    )
    first, second = EventState.objects.filter(flow=lot.flow).order_by("id")
    assert (first.kind, second.kind) == ("unattributed", "unattributed")
    assert "stranger" in second.event.unreadable_reason
    assert Quarantine.objects.count() == 0


def test_an_unattributed_record_cannot_take_an_event_s_place(lot):
    lot.store(lot.record(b"k", b"v", [("event-id", b"e1")]))
    lot.store(lot.poison("e1", 1))
    assert {e.kind for e in EventState.objects.filter(event__event_id="e1")} == {"unattributed", "poison"}


def test_a_process_that_was_overtaken_stores_nothing(lot):
    batch = [lot.poison("e1", 1), lot.held("e2", 2)]
    lot.store(*batch)
    with pytest.raises(Moved):
        lot.store(*batch, expected={(lot.topic.pk, 0): 0})
    assert ParkedRecord.objects.count() == 2


def test_known_coordinates_with_other_bytes_are_not_swallowed(lot):
    arrived = lot.poison("e1", 1)
    lot.store(arrived)
    lot.rewind()
    with pytest.raises(OtherContent):
        lot.store(moved(arrived, value=b"other"))


def test_a_replaced_log_whose_broker_is_away_ends_nothing(lot):
    """Where the log begins now has to be asked of Kafka, which may go away at that very moment."""
    arrived = lot.poison("e1", 1)
    lot.store(arrived)
    lot.rewind()
    owned = Owned(lot.topic, 0, IntakePosition.objects.get().pk, 0)
    lot.flow.cluster.bootstrap_servers = "127.0.0.1:1"
    source = Source(lot.flow.cluster, Troubles())
    flows = {lot.topic.pk: who(lot.topic.name, [facts(lot.flow)])}
    pairs = read_all([moved(arrived, value=b"other")], flows, timezone.now())
    source._ahead = Ahead(lambda _: Batch(pairs, {}, set(), {}))
    source.owned[lot.topic.name, 0] = owned
    try:
        assert Intake()._step(source, 0.1) == 0
        assert source.owned == {}
    finally:
        source.close()


def test_the_constraints_stand_behind_it(lot):
    lot.store(lot.poison("e1", 1))
    quarantine = lot.quarantine
    for change in ({"state": "released"}, {"state": "gone"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Quarantine.objects.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        Quarantine.objects.create(
            hold_key=quarantine.hold_key, flow=lot.flow, opened_at=quarantine.opened_at, last_at=quarantine.last_at
        )
    for changes in ({"state": "applied"}, {"quarantine": None}, {"kind": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            EventState.objects.update(**changes)
