"""No one alone: another person approves exactly the plan that runs, and once."""

import contextlib
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone

from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import JournalEntry, ParkedEvent
from replay import approve, plan, run
from replay.models import Replay, Step
from tests.replay.line import ANNE, BORIS, CARLA


def say(line, replay, actor=BORIS, **changes):
    given = {"digest": bytes(replay.digest), "reason": "looks right", **changes}
    return approve.approve(replay_id=replay.pk, actor=actor, **given)


@pytest.fixture
def requested(line):
    line.park("e1", "e2")
    line.decide("e1", "skip", actor=CARLA)
    return line.request(actor=ANNE)


def test_another_person_approves_and_the_journal_says_what(line, requested):
    replay = say(line, requested)
    assert (replay.state, replay.decided_by_name) == ("approved", BORIS.name)
    entry = JournalEntry.objects.latest("id")
    assert (entry.verb, entry.actor_id, entry.detail["digest"]) == ("approve", BORIS.id, bytes(replay.digest).hex())


def test_the_requester_may_not_approve(line, requested):
    with pytest.raises(Refused, match="You asked for this replay"):
        say(line, requested, actor=ANNE)


def test_who_decided_may_not_approve(line, requested):
    with pytest.raises(Refused, match="You wrote a decision"):
        say(line, requested, actor=CARLA)


def test_who_amended_may_not_approve_even_if_somebody_else_took_the_decision_over(line):
    line.park("e1")
    line.amend("e1", b"good", actor=CARLA)
    line.decide_again("e1", "amend", actor=ANNE)
    with pytest.raises(Refused, match="You wrote"):
        say(line, line.request(actor=ANNE), actor=CARLA)


def test_another_name_on_the_same_account_is_the_same_person(line, requested):
    with pytest.raises(Refused, match="You asked"):
        say(line, requested, actor=Actor(ANNE.id, "somebody else"))


@pytest.mark.parametrize("actor", [ANNE, CARLA])
def test_the_database_refuses_it_too(requested, actor):
    """Whatever road there may be around the verb."""
    with pytest.raises(IntegrityError), transaction.atomic():
        Replay.objects.filter(pk=requested.pk).update(state="approved", decided_by_id=actor.id)
    with pytest.raises(IntegrityError), transaction.atomic():
        Replay.objects.filter(pk=requested.pk).update(state="approved")


def test_the_database_knows_the_table_of_moves(requested):
    with pytest.raises(ProgrammingError, match="Invalid transition"), transaction.atomic():
        Replay.objects.filter(pk=requested.pk).update(state="completed", finished_at=timezone.now())
    with pytest.raises(ProgrammingError, match="Invalid transition"), transaction.atomic():
        Step.objects.filter(replay=requested).update(state="applied", sends=1, sent_at=timezone.now())


def test_another_digest_than_the_plans_is_a_conflict(line, requested):
    with pytest.raises(Conflict, match="not the plan that was shown"):
        say(line, requested, digest=bytes(32))


def change_decision(line):
    line.decide_again("e1", "apply", actor=CARLA)


def change_bytes(line):
    line.amend("e1", b"good", actor=CARLA)


def change_flow(line):
    line.change(window=3)


def change_target(line):
    line.change(replay_topic=line.make_topic("elsewhere"))


def settle_one(line):
    """The consumer applies an event of the plan on its own account: a fact of the ledger."""
    line.tell("skipped", "e1", token=1, fate_token=1)


@pytest.mark.parametrize("change", [change_decision, change_bytes, change_flow, change_target, settle_one])
def test_a_plan_that_changed_after_the_request_is_not_approved(line, requested, change):
    change(line)
    with pytest.raises(Conflict, match="changed since it was requested"):
        say(line, requested)
    assert plan.again(Replay.objects.get()).digest != bytes(requested.digest)
    assert Replay.objects.get().state == "requested"


def test_a_plan_that_was_changed_in_the_database_after_the_approval_does_not_run(line, requested):
    replay = say(line, requested)
    Step.objects.filter(replay=replay, ordinal=1).update(action="apply")
    replay = run.finish(replay.pk, seconds=60)
    assert replay.state == "stopped"
    assert "not the one that was approved" in replay.stop_reason
    assert line.read_replay_topic() == []


def test_new_events_behind_the_plan_do_not_make_it_stale(line, requested):
    line.deliver("e3")
    line.park_all()
    assert say(line, requested).state == "approved"


def test_after_the_deadline_it_is_too_late(line, requested):
    Replay.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Refused, match="expired"):
        say(line, requested)


def test_a_reason_is_needed(line, requested):
    for verb in (lambda: say(line, requested, reason=" "), lambda: line.reject(requested, reason="")):
        with pytest.raises(Refused, match="reason"):
            verb()


def test_a_rejected_replay_is_over_and_says_by_whom(line, requested):
    assert line.reject(requested).state == "rejected"
    with pytest.raises(Conflict, match=f"rejected, decided by {BORIS.name}"):
        say(line, requested, actor=CARLA)
    line.request()


def test_an_event_older_than_the_targets_memory_needs_a_second_confirmation(line, requested):
    ParkedEvent.objects.filter(event_id="e2").update(parked_at=timezone.now() - timedelta(days=31))
    assert approve.beyond_memory(requested) == 1
    with pytest.raises(Refused, match="older than the 30 days"):
        say(line, requested)
    replay = say(line, requested, memory_confirmed=True)
    assert replay.memory_confirmed
    assert JournalEntry.objects.latest("id").detail["memory_confirmed"]


def test_twenty_clicks_at_once_are_one_approval_and_one_run(line, requested, at_once):
    outcomes = at_once(20, lambda _: say(line, requested))
    assert sum(isinstance(one, Replay) for one in outcomes) == 1
    assert {type(one) for one in outcomes if isinstance(one, Exception)} == {Conflict}
    assert JournalEntry.objects.filter(verb="approve").count() == 1
    replay = line.play(Replay.objects.get())
    assert replay.state == "completed", replay.stop_reason
    assert [r.last("siding-action") for r in line.replayed] == [b"skip", b"apply", b"release"]


def test_approval_and_a_new_decision_at_once_never_both_win(line, requested, at_once):
    def click(number):
        return say(line, requested) if number else line.decide_again("e1", "apply", actor=CARLA)

    outcomes = at_once(2, click)
    assert sum(isinstance(one, Refused) for one in outcomes) == 1, outcomes


def test_why_a_person_may_not_approve_is_said_before_they_try(requested):
    assert "You asked" in approve.own(requested, ANNE.id)
    assert "You wrote" in approve.own(requested, CARLA.id)
    assert approve.own(requested, BORIS.id) == ""


def test_clicks_on_a_stale_page_do_not_disturb_the_worker(line, requested, at_once):
    """Approve, cancel and a worker lock in one order: nobody becomes the victim of a deadlock."""
    replay = say(line, requested)

    def act(number):
        if number == 0:
            return run.finish(replay.pk, seconds=4)
        for _ in range(10):
            with contextlib.suppress(Conflict):
                say(line, requested)
        return None

    outcomes = at_once(6, act)
    assert not [one for one in outcomes if isinstance(one, Exception)], outcomes
