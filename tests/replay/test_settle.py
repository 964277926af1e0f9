"""Facts first: what the ledger says is compared with what was planned, however it arrives."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from parking.models import Incident, JournalEntry, Outcome
from replay import recover, settle
from replay.models import Replay, Step
from tests.replay.line import again, tick


@pytest.fixture
def flying(line):
    """Three steps in flight; the consumer has not read them."""
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    return tick(line.approved())


def age_steps():
    Step.objects.filter(state="in_flight").update(sent_at=timezone.now() - timedelta(minutes=5))


def test_the_same_content_by_another_token_is_a_duplicate_and_the_replay_goes_on(line, flying):
    line.tell("skipped", "e1", token=flying.token - 1, fate_token=flying.token - 1)
    line.tell("applied", "e2", token=0, fate_token=0)
    flying = tick(flying)
    assert line.steps(flying) == [("e1", "duplicate"), ("e2", "duplicate"), ("e3", "in_flight")]
    assert flying.state == "running"


def test_other_content_is_a_conflict_that_stops_and_is_told(line, flying):
    line.tell("applied", "e2", fate_token=5, fingerprint=b"o" * 32)
    age_steps()
    flying = tick(flying)
    flying = tick(flying)
    assert flying.state == "stopped"
    assert line.steps(flying)[1] == ("e2", "conflict")
    assert "applied with other content than planned (under token 5)" in flying.stop_reason
    assert JournalEntry.objects.filter(verb="stop").latest("id").detail["steps"]["conflict"] == 1
    incident = Incident.objects.get()
    assert incident.kind == "conflict"
    assert "e2" not in incident.summary.replace(line.flow.name, "")  # the flow's random name may hold it


def test_another_decision_is_a_conflict(line, flying):
    line.tell("applied", "e1", fate_token=0)
    age_steps()
    assert tick(tick(flying)).state == "stopped"
    assert line.steps(flying)[0] == ("e1", "conflict")


@pytest.mark.parametrize("word", ["not-held", "out-of-order", "refused"])
def test_the_protocols_words_are_the_reason_and_add_no_attempt(line, flying, word):
    before = line.event("e2").attempt_count
    line.tell(word, "e2", token=flying.token, reason="the why", first_held="e1")
    age_steps()
    flying = tick(tick(flying))
    step = flying.steps.get(ordinal=2)
    assert step.state == "failed"
    assert step.reason.startswith(word)
    assert line.event("e2").attempt_count == before
    assert flying.state == "stopped"
    assert Incident.objects.filter(kind="restored-ledger").exists() == (word == "not-held")


def test_answers_to_an_older_token_are_not_about_this_replay(line, flying):
    for word in ("failed", "fenced", "not-held", "refused"):
        line.tell(word, "e1", token=flying.token - 1)
    assert line.steps(tick(flying))[0] == ("e1", "in_flight")


def test_an_outcome_that_becomes_visible_late_is_not_lost(line, flying):
    """Two intakes: the one with the lower id commits last. Here its row is moved below one that was settled before."""
    line.serve()
    line.park_all()
    late = Outcome.objects.filter(event_digest=line.event("e1").event_digest, token=flying.token).get()
    row = {field.attname: getattr(late, field.attname) for field in Outcome._meta.fields}
    late.delete()
    flying = tick(flying)
    assert [state for _, state in line.steps(flying)] == ["in_flight", "applied", "applied"]
    assert max(flying.steps.values_list("outcome_id", flat=True), key=lambda one: one or 0) > row["id"]
    Outcome.objects.create(**row)
    assert line.steps(tick(flying))[0] == ("e1", "skipped")


def test_facts_of_an_earlier_life_are_not_taken_for_an_answer(line):
    """Applied once, then the ledger was restored and holds it again: the old fact is about the time before."""
    line.park("e1", "e2")
    line.tell("skipped", "e1", token=5, fate_token=5)
    line.tell("still-held", token=9, held_count=1, still_held=(line.held("e1"),))
    assert line.event("e1").state == "parked"
    line.decide("e1", "skip")
    replay = tick(line.approved())
    assert line.steps(replay)[0] == ("e1", "in_flight")


def test_a_step_without_an_outcome_is_sent_once_more_as_it_was_and_then_nobody_knows(line, flying):
    first = line.read_replay_topic()
    age_steps()
    flying = tick(flying)
    second = line.read_replay_topic()
    assert [(r.key, r.value, r.headers) for r in second] == [(r.key, r.value, r.headers) for r in first]
    assert set(flying.steps.values_list("sends", flat=True)) == {2}
    age_steps()
    flying = tick(flying)
    assert flying.state == "stopped"
    assert {state for _, state in line.steps(flying)} == {"unconfirmed"}
    assert line.read_replay_topic() == []
    assert "no outcome in time" in flying.stop_reason


def test_sent_twice_it_takes_effect_once(line, flying):
    first = line.read_replay_topic()
    age_steps()
    tick(flying)
    for record in [*first, *line.read_replay_topic()]:
        line.process(record, lambda _: None)
    line.park_all()
    assert line.play(again(flying)).state == "completed"
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3")]


def test_evidence_after_the_end_still_moves_what_was_unconfirmed(line, flying):
    for _ in range(2):
        age_steps()
        flying = tick(flying)
    assert flying.state == "stopped"
    line.serve()
    line.park_all()
    assert recover.settle_late() == 3
    assert [state for _, state in line.steps(flying)] == ["skipped", "applied", "applied"]
    assert JournalEntry.objects.filter(verb="late outcome").count() == 3
    assert Replay.objects.get().state == "stopped"


def test_a_failure_is_an_attempt_and_says_no_more_than_the_errors_type(line):
    line.park("e1", bad=1)
    line.decide("e1", "apply")
    before = line.event("e1").attempt_count
    replay = line.play(line.approved())
    assert replay.state == "stopped"
    assert replay.steps.get().reason == "failed: InvalidValue"
    assert line.event("e1").attempt_count > before
    assert "bad e1" not in replay.stop_reason


def test_steps_are_written_by_compare_and_swap(flying):
    """What is settled stays settled, whoever writes later."""
    from replay.verdict import Verdict

    pk = flying.steps.get(ordinal=1).pk
    with transaction.atomic():
        assert settle.record([(pk, Verdict("skipped", "", 1))]) == 1
        assert settle.record([(pk, Verdict("failed", "late", 2))]) == 0
    assert Step.objects.get(pk=pk).state == "skipped"
