"""Payloads go when their time has come, all of them, and never one that still waits."""

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from parking.headers import pack
from parking.models import Amendment, Attempt, EventPayload, EventState, IndexedDay, JournalEntry
from parking.retention.purge import purge_due
from parking.retention.scrub import scrub
from parking.search import position
from tests.parking.intake.conftest import attempt
from tests.parking.retention.conftest import SECRET, WATCH


def test_what_is_settled_long_enough_is_scrubbed_and_says_when(store):
    store.done("k")
    store.wait(29)
    assert purge_due() == 0
    store.wait(2)
    assert purge_due() == 2
    assert EventPayload.objects.count() == 0
    scrubbed = store.state("k-1")
    assert (scrubbed.state, scrubbed.scrubbed_at) == ("applied", timezone.now())
    assert scrubbed.event.error_type == "ValueError"
    assert bytes(scrubbed.event.fingerprint)
    assert purge_due() == 0


def test_nothing_of_the_payload_is_left_anywhere(store):
    """Every text, JSON and binary column of every table of parking is looked at."""
    store.park("k")
    lot = store.lots["payments"]
    lot.store(lot.answer("failed", "k-1", key=b"k", token=3, attempts=(attempt(2, "KeyError", SECRET),)))
    Amendment.objects.create(
        event_state=store.state("k-1"), version=2, value=SECRET.encode(), headers=pack((("x", SECRET.encode()),)),
        fingerprint=bytes(32), actor_id="user:1", actor_name="ann", at=timezone.now(),
    )  # fmt: skip
    store.settle("k")
    store.release("k")
    store.found(SECRET)
    assert {"Amendment.headers", "Amendment.value", "Attempt.evidence", "Attempt.message", "Attempt.stacktrace",
            "Attempt.validation_errors", "ErrorGroup.sample", "EventPayload.headers", "EventPayload.raw_headers",
            "EventPayload.value", "Outcome.attempts", "ParkedEvent.error_message", "Quarantine.first_error",
            } <= set(leftovers(SECRET))  # fmt: skip
    store.wait(31)
    purge_due()
    assert leftovers(SECRET) == []


def test_an_attempt_that_comes_after_scrubbing_is_scrubbed_too(store):
    """A late announcement of a settled event adds its attempts."""
    store.done("k")
    store.found(SECRET)
    store.wait(31)
    purge_due()
    lot = store.lots["payments"]
    late = attempt(2, "LateError", f"again {SECRET}")
    lot.store(lot.poison("k-1", 10, key=b"k", attempts=(late,)))
    assert leftovers(SECRET)
    store.found("x")
    assert purge_due() == 1
    assert leftovers(SECRET) == []
    assert store.found("LateError") == ["k-1"]
    assert IndexedDay.objects.get().scrubbed == 2


def test_its_words_are_not_found_any_more(store):
    store.done("k")
    assert store.found(SECRET) == ["k-2", "k-1"]
    store.wait(31)
    purge_due()
    assert store.found(SECRET) == []
    assert store.found("ValueError k") == ["k-1"]
    assert IndexedDay.objects.get().scrubbed == 2


def test_what_was_not_indexed_before_it_was_scrubbed_is_indexed_without_it(store):
    store.done("k")
    store.wait(31)
    purge_due()
    assert store.found(SECRET) == []
    assert store.found("ValueError k") == ["k-1"]
    assert IndexedDay.objects.get().scrubbed == 2


def test_nothing_of_an_open_key_is_purged(store):
    """Case RET-02: poison from 60 days ago, held from yesterday."""
    store.park("k")
    store.settle("k", [1])
    store.wait(59)
    lot = store.lots["payments"]
    lot.store(lot.held("k-3", 12, key=b"k"))
    store.wait(1)
    assert purge_due() == 0
    assert EventPayload.objects.count() == 3
    assert EventState.objects.filter(scrubbed_at__isnull=True).count() == 3


def test_the_database_refuses_to_lose_what_waits(store):
    """Whoever deletes: not only our own code (guarantee 1)."""
    store.park("k")
    store.settle("k", [1])
    for table in ("eventpayload", "parkedevent", "eventstate"):
        for name in ("k-1", "k-2"):
            with (
                pytest.raises(ProgrammingError, match="is not settled, or its key is not released"),
                transaction.atomic(),
            ):
                execute(f"DELETE FROM parking_{table} WHERE id = %s", store.state(name).pk)
    store.settle("k", [2])
    store.release("k")
    execute("DELETE FROM parking_eventpayload WHERE id = %s", store.state("k-2").pk)
    assert EventPayload.objects.count() == 1


def test_an_event_that_is_parked_again_meanwhile_stays(store, monkeypatch):
    """Chosen as due, then its consumer says that it holds it after all."""
    store.done("k")
    store.wait(31)
    locked = position.locked

    def restored():
        lot = store.lots["payments"]
        lot.store(lot.answer("held", "k-1", key=b"k", token=99))
        return locked()

    monkeypatch.setattr(position, "locked", restored)
    assert scrub(flow=store.flow(), actor=WATCH) == 1
    assert store.state("k-1").state == "parked"
    assert EventPayload.objects.get().event_state == store.state("k-1")


def test_it_goes_in_bounded_chunks_each_journalled_with_its_count(store):
    for number in range(3):
        store.done(f"k{number}")
    store.wait(31)
    assert [scrub(flow=store.flow(), actor=WATCH, most=4) for _ in range(3)] == [4, 2, 0]
    entries = JournalEntry.objects.filter(verb="scrub").order_by("id")
    assert [(entry.detail["events"], entry.flow, entry.actor_id) for entry in entries] == [
        (4, store.flow(), "system:watch"),
        (2, store.flow(), "system:watch"),
    ]
    assert "30 days after settling" in entries[0].reason


def test_each_flow_keeps_its_own_days(store):
    store.flow("short", payload_days=1)
    store.done("a", "short")
    store.done("b", "payments")
    store.wait(2)
    assert purge_due() == 2
    assert store.state("a-1").scrubbed_at is not None
    assert store.state("b-1").scrubbed_at is None


def test_a_turn_takes_no_longer_than_it_may(store):
    for number in range(3):
        store.done(f"k{number}")
    store.wait(31)
    assert purge_due(seconds=0) == 0


def test_the_samples_of_groups_and_keys_go_too_while_newer_ones_stay(store):
    store.done("old")
    store.wait(20)
    store.park("new")
    store.wait(11)
    assert purge_due() == 2
    group = store.state("new-1").error_group
    assert group is not None
    assert SECRET in group.sample
    assert SECRET not in store.state("old-1").quarantine.first_error
    assert SECRET in store.state("new-1").quarantine.first_error
    assert [one.message for one in Attempt.objects.order_by("id")] == ["", f"invalid card {SECRET}"]


def test_the_journal_stays_and_says_nothing_of_payloads(store):
    """Case RET-03."""
    store.done("k")
    before = JournalEntry.objects.count()
    store.wait(31)
    purge_due()
    assert JournalEntry.objects.count() == before + 1
    assert SECRET not in str(list(JournalEntry.objects.values()))


def leftovers(text: str) -> list[str]:
    """Columns of parking that hold the text."""
    found = []
    for model in apps.get_app_config("parking").get_models():
        for field in model._meta.concrete_fields:
            kind = field.db_type(connection) or ""
            if kind.startswith(("text", "varchar", "bytea", "jsonb")):
                column = f"encode(\"{field.column}\", 'escape')" if kind == "bytea" else f'"{field.column}"::text'
                rows = execute(f"SELECT count(*) FROM {model._meta.db_table} WHERE position(%s IN {column}) > 0", text)
                found += [f"{model.__name__}.{field.column}"] if rows[0][0] else []
    return found


def execute(sql: str, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []
