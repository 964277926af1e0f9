"""What arrives moves events and quarantines by the rules of the design, whatever came first and however often."""

import pytest

from parking import journal
from parking.models import Attempt, EventState, HoldKey, JournalEntry, Outcome, ParkedRecord, Quarantine, Rollup
from parking.wire import StillHeld

from .conftest import attempt, make_flow, make_lot, moved


def counts(quarantine: Quarantine):
    return quarantine.poison, quarantine.held, quarantine.settled, quarantine.state


def test_poison_opens_a_quarantine_and_held_events_stand_behind_it(lot):
    lot.store(lot.poison("e1", 10), lot.held("e2", 11), lot.held("e3", 12), lot.poison("x1", 13, key=b"other"))
    quarantine = Quarantine.objects.get(hold_key__key=b"k")
    assert counts(quarantine) == (1, 2, 0, "open")
    assert quarantine.depth_bucket == 2
    assert quarantine.first_error == "ValueError: amount must be positive: -3"
    assert quarantine.last_position == 12
    unsettled = EventState.objects.unsettled(quarantine)
    assert [(e.event.event_id, e.kind, e.position) for e in unsettled] == [
        ("e1", "poison", 10),
        ("e2", "held", 11),
        ("e3", "held", 12),
    ]
    assert quarantine.oldest_at == lot.state("e1").event.parked_at
    assert lot.state("e2").event.blocked_by == "e1"
    assert Quarantine.objects.count() == 2
    rollup = Rollup.objects.get()
    assert (rollup.poison, rollup.held, rollup.other) == (2, 2, 0)


def test_the_same_event_again_is_another_attempt_in_its_first_place(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(1), attempt(2))), lot.held("e2", 11))
    lot.store(lot.poison("e1", 10, attempts=(attempt(2), attempt(3, message="still negative: -3"))))
    event = lot.state("e1")
    assert event.position == 10
    assert event.attempt_count == 3
    assert [a.number for a in event.attempts.all()] == [1, 2, 3]
    assert event.error_group.pattern == "still negative: <n>"
    assert counts(lot.quarantine) == (1, 1, 0, "open")
    assert event.records.count() == 2
    assert Rollup.objects.get().poison == 1


def test_a_held_event_that_fails_becomes_poison(lot):
    lot.store(lot.poison("e1", 10), lot.held("e2", 11))
    lot.store(lot.answer("failed", "e2", token=7, replay_id="1", floor=8, attempts=(attempt(1, "KeyError", "x"),)))
    event = lot.state("e2")
    assert event.kind == "poison"
    assert event.attempts.get().token == 7
    assert counts(lot.quarantine) == (2, 0, 0, "open")
    assert HoldKey.objects.get().highest_floor == 8
    assert event.error_group.error_type == "KeyError"


def test_facts_settle_whoever_caused_them(lot):
    lot.store(lot.poison("e1", 10), lot.held("e2", 11))
    first = lot.state("e1").event.parked_at
    assert lot.quarantine.oldest_at == first
    lot.store(lot.answer("applied", "e1", token=99, replay_id="unknown", fate_token=5, fingerprint=b"f" * 32))
    event = lot.state("e1")
    assert (event.state, event.fate_token, bytes(event.fate_fingerprint)) == ("applied", 5, b"f" * 32)
    assert event.settled_at is not None
    assert counts(lot.quarantine) == (0, 1, 1, "open")
    assert lot.quarantine.oldest_at == lot.state("e2").event.parked_at
    lot.store(lot.answer("skipped", "e2", token=99, fate_token=99))
    assert lot.state("e2").state == "skipped"
    assert lot.quarantine.oldest_at is None
    assert Outcome.objects.count() == 2


def test_release_needs_every_event_settled_and_a_position_beyond_all(lot):
    lot.store(lot.poison("e1", 10), lot.held("e2", 11))
    lot.store(lot.answer("released", position=12, token=5))
    assert lot.quarantine.state == "open"  # e1 and e2 are not settled
    lot.store(lot.answer("applied", "e1", fate_token=5))
    assert lot.quarantine.state == "open"
    lot.store(lot.answer("applied", "e2", fate_token=5))
    quarantine = lot.quarantine
    assert counts(quarantine) == (0, 0, 2, "released")
    assert quarantine.released_at is not None
    assert HoldKey.objects.get().released_position == 12
    assert JournalEntry.objects.of_quarantine(quarantine.pk).get().verb == "released"
    assert journal.first_broken() is None


def test_a_stale_release_does_not_close_a_newer_quarantine(lot):
    lot.store(lot.poison("e1", 10), lot.answer("applied", "e1", fate_token=5), lot.answer("released", position=11))
    lot.store(lot.poison("e5", 50))
    lot.store(lot.answer("applied", "e5", fate_token=0), lot.answer("released", position=11))
    assert [q.state for q in Quarantine.objects.order_by("id")] == ["released", "open"]
    lot.store(lot.answer("released", position=51))
    assert [q.state for q in Quarantine.objects.order_by("id")] == ["released", "released"]


def test_a_replaying_quarantine_is_released_too(lot):
    lot.store(lot.poison("e1", 10))
    Quarantine.objects.update(state="replaying")
    lot.store(lot.answer("applied", "e1", fate_token=5), lot.answer("released", position=11))
    assert lot.quarantine.state == "released"


def test_a_failure_after_the_release_opens_a_new_quarantine(lot):
    """In one batch and in four: the result does not depend on how records fall into batches."""
    life = [
        lot.poison("e1", 10),
        lot.answer("applied", "e1", fate_token=5),
        lot.answer("released", position=11),
        lot.poison("e9", 90),
    ]
    lot.store(*life)
    again = make_lot(make_flow("second"))
    for record in (
        again.poison("e1", 10),
        again.answer("applied", "e1", fate_token=5),
        again.answer("released", position=11),
        again.poison("e9", 90),
    ):
        again.store(record)
    for flow in (lot.flow, again.flow):
        assert [counts(q) for q in Quarantine.objects.filter(flow=flow).order_by("id")] == [
            (0, 0, 1, "released"),
            (1, 0, 0, "open"),
        ]


def test_a_late_announcement_of_a_settled_event_opens_nothing(lot):
    lot.store(lot.poison("e1", 10), lot.answer("applied", "e1", fate_token=5), lot.answer("released", position=11))
    lot.store(lot.poison("e1", 10, attempts=(attempt(1), attempt(2))))
    event = lot.state("e1")
    assert event.state == "applied"
    assert event.attempts.count() == 2
    assert Quarantine.objects.get().state == "released"


def test_a_fact_that_comes_before_its_event_settles_it_at_once(lot):
    lot.store(lot.answer("failed", "e1", token=7, attempts=(attempt(3, "KeyError"),)))
    lot.store(lot.answer("applied", "e1", fate_token=8))
    lot.store(lot.poison("e1", 10))
    event = lot.state("e1")
    assert (event.state, event.fate_token) == ("applied", 8)
    assert [(a.token, a.number) for a in event.attempts.all()] == [(0, 1), (7, 3)]
    assert counts(lot.quarantine) == (0, 0, 1, "open")  # the consumer still holds the key: nobody told of a release
    lot.store(lot.answer("released", position=11))
    assert lot.quarantine.state == "released"


def test_an_event_that_is_held_again_is_parked_again(lot):
    """The consumer's ledger was restored to an older time, and its effects with it."""
    lot.store(lot.poison("e1", 10), lot.answer("applied", "e1", fate_token=5), lot.answer("released", position=11))
    held = (StillHeld("e1", 10, "poison", lot.poison("e1", 10).record.coordinates),)
    lot.store(lot.answer("still-held", token=5, still_held=held, held_count=1))
    assert lot.state("e1").state == "applied"  # not newer than the fact
    lot.store(lot.answer("still-held", token=6, still_held=held, held_count=1))
    event = lot.state("e1")
    assert (event.state, event.fate_token, event.settled_at) == ("parked", None, None)
    old, new = Quarantine.objects.order_by("id")
    assert counts(old) == (0, 0, 0, "released")
    assert counts(new) == (1, 0, 0, "open")
    assert event.quarantine == new
    assert new.oldest_at == event.event.parked_at
    entry = JournalEntry.objects.of_quarantine(new.pk).get()
    assert (entry.verb, entry.event_id) == ("returned", event.pk)


@pytest.mark.parametrize("one_batch", [False, True])
def test_what_is_said_of_an_event_before_its_announcement_counts_when_it_comes(lot, one_batch):
    """Nobody announced e2 yet: a fact, then a `still-held` of a newer token (a restored ledger), then another fact."""
    held = (StillHeld("e2", 11, "held", lot.poison("e2", 11).record.coordinates),)
    said = [
        lot.poison("e1", 10),
        lot.answer("applied", "e2", token=5, fate_token=5),
        lot.answer("still-held", token=4, still_held=held, held_count=1),
    ]
    later = [lot.answer("still-held", token=6, still_held=held, held_count=1)]
    for batch in [said + later + [lot.held("e2", 11)]] if one_batch else [said, later, [lot.held("e2", 11)]]:
        lot.store(*batch)
    assert lot.state("e2").state == "parked"
    assert counts(lot.quarantine) == (1, 1, 0, "open")
    assert [entry.verb for entry in JournalEntry.objects.filter(verb="returned")] == ["returned"]
    lot.store(lot.answer("applied", "e2", token=7, fate_token=7))
    assert lot.state("e2").state == "applied"


def test_an_older_still_held_does_not_bring_back_what_is_announced_later(lot):
    held = (StillHeld("e2", 11, "held", lot.poison("e2", 11).record.coordinates),)
    lot.store(lot.poison("e1", 10), lot.answer("still-held", token=6, still_held=held, held_count=1))
    lot.store(lot.answer("applied", "e2", token=6, fate_token=6))
    lot.store(lot.held("e2", 11))
    assert lot.state("e2").state == "applied"


def test_the_answer_held_brings_an_event_back_in_its_own_quarantine(lot):
    lot.store(lot.poison("e1", 10), lot.held("e2", 11), lot.answer("applied", "e1", fate_token=5))
    lot.store(lot.answer("held", "e1", token=6))
    assert lot.state("e1").state == "parked"
    assert counts(lot.quarantine) == (1, 1, 0, "open")
    assert lot.quarantine.oldest_at == lot.state("e1").event.parked_at


def test_a_batch_that_comes_again_changes_nothing(lot):
    batch = [
        lot.poison("e1", 10, attempts=(attempt(1), attempt(2))),
        lot.held("e2", 11),
        lot.answer("failed", "e2", token=7, attempts=(attempt(1),)),
        lot.answer("applied", "e1", fate_token=5),
        lot.record(b"?", b"no dialect", []),
    ]
    assert lot.store(*batch).records == 5
    before = _everything()
    for _ in range(2):
        lot.rewind()
        assert lot.store(*batch).records == 0
    assert _everything() == before


def _everything():
    tables = (EventState, Quarantine, HoldKey, Attempt, Outcome, ParkedRecord, Rollup)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def test_the_same_event_id_in_two_flows_is_two_events(lot):
    other = make_lot(make_flow("second"))
    lot.store(lot.poison("e1", 10))
    other.store(other.poison("e1", 10))
    other.store(other.answer("applied", "e1", fate_token=1))
    assert lot.state("e1").state == "parked"
    assert other.state("e1").state == "applied"


def test_a_key_that_is_quarantined_by_a_held_event_gets_its_error_later(lot):
    lot.store(lot.held("e2", 11))
    assert lot.quarantine.first_error == ""
    lot.store(lot.poison("e1", 10))
    assert lot.quarantine.first_error.startswith("ValueError")
    assert lot.quarantine.oldest_at == lot.state("e1").event.parked_at


@pytest.mark.parametrize("word", ["fenced", "not-held", "out-of-order", "refused"])
def test_other_answers_are_kept_and_change_no_event(lot, word):
    lot.store(lot.poison("e1", 10))
    lot.store(lot.answer(word, "e1", token=4, floor=9, reason="x"))
    assert lot.state("e1").state == "parked"
    assert lot.state("e1").attempt_count == 1
    assert Outcome.objects.get().outcome == word
    assert HoldKey.objects.get().highest_floor == 9


def test_an_answer_to_a_record_that_could_not_be_read_has_no_key(lot):
    lot.store(lot.answer("refused", key=b"", reason="malformed"))
    assert Outcome.objects.get().evidence == {"reason": "malformed"}
    assert HoldKey.objects.count() == 0


def test_absurd_times_are_replaced_by_ours(lot):
    lot.store(*(moved(lot.poison(f"e{n}", n), timestamp_ms=at) for n, at in enumerate((-1, 0, 9_400_000_000_000_000))))
    for event in EventState.objects.all():
        assert event.event.parked_at == event.stored_at
