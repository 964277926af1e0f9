"""Error groups are counted exactly, however often their records come."""

from collections import Counter
from datetime import timedelta

from parking.models import ErrorGroup, ErrorGroupDay, ErrorGroupKey, EventState

from .conftest import attempt

CRASH, LATE = "Crash", "Late"


def days():
    rows = ErrorGroupDay.objects.values_list("error_group__error_type", "events", "keys")
    return {kind: (events, keys) for kind, events, keys in rows}


def stopped():
    return Counter(ErrorGroupKey.objects.values_list("error_group__error_type", flat=True))


def test_events_and_keys_are_counted_once_however_often_they_come(lot):
    sent = [
        lot.poison("e1", 10, key=b"a", attempts=(attempt(1, CRASH),)),
        lot.poison("e2", 20, key=b"a", attempts=(attempt(1, CRASH),)),
        lot.held("e3", 30, key=b"a"),
        lot.poison("e4", 10, key=b"b", attempts=(attempt(1, CRASH),)),
    ]
    lot.store(*sent)
    assert days() == {CRASH: (3, 2)}
    lot.rewind()
    lot.store(*sent)
    lot.store(lot.poison("e5", 40, key=b"a", attempts=(attempt(1, CRASH),)))
    assert days() == {CRASH: (4, 2)}
    assert stopped() == {CRASH: 2}
    assert ErrorGroup.objects.get().event_count == 4


def test_an_event_that_fails_otherwise_counts_in_both_groups(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(1, CRASH),)))
    seen = ErrorGroup.objects.get().last_seen
    lot.store(lot.answer("failed", "e1", token=5, attempts=(attempt(2, LATE),), floor=6))
    assert ErrorGroup.objects.get(error_type=CRASH).last_seen == seen
    assert days() == {CRASH: (1, 1), LATE: (1, 1)}
    assert dict(ErrorGroup.objects.values_list("error_type", "event_count")) == {CRASH: 0, LATE: 1}


def test_one_that_goes_and_one_that_comes_in_the_same_batch_is_seen(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(1, CRASH),)))
    seen = ErrorGroup.objects.get().last_seen
    lot.store(
        lot.answer("failed", "e1", token=5, attempts=(attempt(2, LATE),), floor=6),
        lot.poison("e2", 20, key=b"b", attempts=(attempt(1, CRASH),)),
    )
    crash = ErrorGroup.objects.get(error_type=CRASH)
    assert (crash.event_count, crash.last_seen > seen) == (1, True)


def test_when_an_error_was_last_seen_never_goes_back(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(1, CRASH),)))
    later = ErrorGroup.objects.get().last_seen + timedelta(seconds=3)
    ErrorGroup.objects.update(last_seen=later)
    lot.store(lot.poison("e2", 20, attempts=(attempt(1, CRASH),)))
    assert ErrorGroup.objects.get().last_seen == later


def test_a_key_that_stops_again_is_another_one(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(1, CRASH),)))
    facts = {"token": 5, "fate_token": 5, "fingerprint": bytes(32)}
    lot.store(lot.answer("applied", "e1", position=10, **facts), lot.answer("released", position=11, token=5))
    lot.store(lot.poison("e2", 20, attempts=(attempt(1, CRASH),)))
    assert days() == {CRASH: (2, 2)}
    assert set(ErrorGroupKey.objects.values_list("quarantine", flat=True)) == set(
        EventState.objects.values_list("quarantine", flat=True)
    )


def test_what_is_only_held_counts_nowhere(lot):
    lot.store(lot.held("e1", 10))
    assert not ErrorGroupDay.objects.exists()
    assert not ErrorGroupKey.objects.exists()
