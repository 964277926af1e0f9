"""Decisions on one event: the newest counts, nobody overwrites unseen, and an approved plan is frozen."""

import pgtrigger
import pytest
from django.utils import timezone

from parking.errors import Conflict, Refused
from parking.models import Decision, EventPayload, EventState, JournalEntry
from replay import decide
from tests.replay.line import ANNE, BORIS


def say(line, event_id: str, action: str, **changes):
    given = {"reason": "because", "actor": ANNE, **changes}
    return decide.decide(event_state_id=line.event(event_id).pk, action=action, **given)


def test_a_decision_is_kept_with_who_why_and_a_journal_entry(line):
    line.park("e1")
    made = say(line, "e1", "skip", reason="  broken for good  ")
    assert (made.action, made.reason, made.actor_name) == ("skip", "broken for good", ANNE.name)
    entry = JournalEntry.objects.filter(verb="decide").latest("id")
    assert (entry.event_id, entry.actor_id, entry.detail["action"]) == (line.event("e1").pk, ANNE.id, "skip")


def test_a_decision_that_was_not_seen_is_not_overwritten_and_the_conflict_says_whose_it_is(line):
    line.park("e1")
    first = say(line, "e1", "skip")
    with pytest.raises(Conflict, match=ANNE.name) as refused:
        say(line, "e1", "apply", actor=BORIS)
    assert (refused.value.who, refused.value.what) == (ANNE.name, "skip")
    assert say(line, "e1", "apply", actor=BORIS, seen_decision_at=first.at).action == "apply"
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "   ", "a\0b", "\ud800", "x" * 3000])
def test_a_skip_without_a_sound_reason_is_refused(line, reason):
    line.park("e1")
    with pytest.raises(Refused, match="reason"):
        say(line, "e1", "skip", reason=reason)


def test_an_unknown_action_and_a_foreign_amendment_are_refused(line):
    line.park("e1", "e2", bad=2)
    with pytest.raises(Refused, match="apply, amend or skip"):
        say(line, "e1", "delete")
    with pytest.raises(Refused, match="needs an amendment"):
        say(line, "e1", "amend", amendment_id=12345)


def test_a_settled_event_takes_no_decision(line):
    line.park("e1")
    line.decide("e1", "skip")
    line.play(line.approved())
    with pytest.raises(Refused, match="skipped at"):
        say(line, "e1", "apply", seen_decision_at=line.event("e1").decision.at)


def test_a_record_without_a_key_takes_no_decision(line):
    line.store.take([line.wire_of_nobody()])
    with pytest.raises(Refused, match="no key's quarantine"):
        decide.decide(event_state_id=line.flow.events.get().pk, action="skip", reason="x", actor=ANNE)


def test_an_event_of_an_approved_replay_takes_no_decision_until_that_is_cancelled(line):
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = line.approved()
    for event_id in ("e1", "e2"):
        with pytest.raises(Refused, match=f"Replay {replay.pk}, approved by {BORIS.name}"):
            say(line, event_id, "apply")
    line.cancel(replay)
    assert say(line, "e2", "skip").action == "skip"


def test_an_event_whose_bytes_retention_removed_can_only_be_skipped_but_it_can(line):
    """It was settled and scrubbed, and came back because the consumer's ledger was restored."""
    line.park("e1", "e2")
    with pgtrigger.ignore("parking.EventPayload:unsettled_stays"):
        EventPayload.objects.filter(event_state=line.event("e1")).delete()
    EventState.objects.filter(pk=line.event("e1").pk).update(scrubbed_at=timezone.now())
    with pytest.raises(Refused, match="Retention removed the event's bytes"):
        say(line, "e1", "apply")
    say(line, "e1", "skip")
    replay = line.play(line.approved())
    assert replay.state == "completed", replay.stop_reason
    assert line.effects() == [("e2", b"good e2")]
