"""Events that are held while a replay runs follow it, as far as the approved plan says and in ledger order."""

import pytest

from parking.models import Outcome, Quarantine
from replay.models import Replay
from tests.replay.line import again, tick


def actions(line):
    return [(r.last("siding-action"), r.last("siding-event-id")) for r in line.replayed]


def ready(line, **follow):
    line.park("e1", "e2")
    line.decide("e1", "skip")
    return line.approved(**follow)


def test_what_is_held_between_approval_and_release_follows_in_order(line):
    replay = ready(line)
    for event_id in ("e3", "e4", "e5"):
        line.deliver(event_id, b"good " + event_id.encode())
    line.park_all()
    assert replay.steps.count() == 2
    replay = line.play(replay)
    assert replay.state == "completed", replay.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3", "e4", "e5"]
    assert list(replay.steps.values_list("followed", flat=True)) == [False, False, True, True, True]
    assert replay.followed == 3
    assert line.quarantine().state == Quarantine.State.RELEASED


def test_exactly_the_approved_ones_go_where_the_plan_says_stop(line):
    """REP-15: three more are held before the worker starts."""
    replay = ready(line, follow="stop")
    for event_id in ("e3", "e4", "e5"):
        line.deliver(event_id)
    line.park_all()
    replay = line.play(replay)
    assert replay.state == "stopped"
    assert replay.stop_reason.startswith("3 more event(s) of the key are held and the plan says stop")
    assert [event for event, _ in line.effects()] == ["e2"]
    quarantine = line.quarantine()
    assert (quarantine.state, quarantine.held) == ("open", 3)
    second = line.play(line.approved())
    assert second.state == "completed", second.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3", "e4", "e5"]


def test_it_follows_up_to_the_first_poison_one_and_then_stops(line):
    """REP-15: one of the newly held ones fails, and is poison in a second quarantine round."""
    replay = ready(line)
    line.deliver("e3", b"good e3")
    line.deliver("e4", b"bad e4")
    line.deliver("e5", b"good e5")
    line.park_all()
    replay = line.play(replay)
    assert replay.state == "stopped"
    assert "e4" in replay.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3"]
    assert line.event("e4").kind == "poison"
    assert line.quarantine().state == "open"


def test_a_new_poison_event_is_never_sent_without_an_approval(line):
    """An id conflict makes an event poison at once, behind a stopped key."""
    replay = ready(line)
    line.deliver("e3", b"good e3")
    line.deliver("e2", b"good, but not what e2 was")
    line.park_all()
    replay = line.play(replay)
    assert replay.state == "stopped"
    assert "A new poison event came behind the approved ones (e2#" in replay.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3"]
    assert len([action for action in actions(line) if action[0] == b"apply"]) == 2


def test_no_more_follow_than_the_plan_allows(line):
    line.change(follow_cap=2)
    replay = ready(line)
    for number in range(3, 8):
        line.deliver(f"e{number}")
    line.park_all()
    replay = line.play(replay)
    assert replay.state == "stopped"
    assert "3 more event(s) of the key are held and the plan's limit of 2" in replay.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3", "e4"]


def test_one_that_somebody_decided_on_meanwhile_needs_an_approval(line):
    replay = ready(line)
    line.deliver("e3")
    line.park_all()
    line.decide("e3", "skip")
    replay = line.play(replay)
    assert replay.state == "stopped"
    assert "e3 was held meanwhile and has a decision of its own" in replay.stop_reason


def still_held_before_intake_reads(line, replay):
    """The consumer names e3, whose announcement intake has not stored."""
    replay = line.play_until(replay, "releasing")
    replay = tick(replay)
    line.deliver("e3", b"good e3")
    kept, line.published = line.published, []
    line.serve()
    line.park_all()
    replay = tick(replay)
    return kept, again(replay)


def test_one_that_intake_has_not_read_yet_is_waited_for(line):
    kept, replay = still_held_before_intake_reads(line, ready(line))
    assert replay.state == "releasing"
    assert "Intake has not read e3 yet" in replay.waiting_for
    line.published = kept
    line.park_all()
    replay = line.play(replay)
    assert replay.state == "completed", replay.stop_reason
    assert replay.waiting_for == ""
    assert [event for event, _ in line.effects()] == ["e2", "e3"]


def test_but_not_for_ever(line):
    _, replay = still_held_before_intake_reads(line, ready(line))
    line.change(outcome_timeout_seconds=0)
    replay = tick(replay)
    replay = again(replay)
    assert replay.state == "stopped"
    assert "holds e3, which intake has not read in 0 s" in replay.stop_reason
    assert line.quarantine().state == "open"


def test_a_stale_still_held_of_the_round_before_is_not_taken_for_an_answer(line):
    """The marker was sent twice, and both answers say still-held: the second is about the round before."""
    replay = line.play_until(ready(line), "releasing")
    replay = tick(replay)
    (marker,) = line.read_replay_topic()
    line.deliver("e3", b"good e3")
    line.process(marker, lambda _: None)
    line.process(marker, lambda _: None)
    line.park_all()
    assert Outcome.objects.filter(outcome="still-held").count() == 2
    replay = line.play(again(replay))
    assert replay.state == "completed", replay.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3"]


def test_the_consumer_holds_again_what_it_had_applied(line):
    """Its ledger was restored: following would repeat an effect, so a person has to look."""
    replay = line.play_until(ready(line), "releasing")
    replay = tick(replay)
    line.read_replay_topic()
    line.tell(
        "still-held",
        token=again(replay).token,
        held_count=1,
        still_held=(line.held("e2"),),
        event_id=None,
        fingerprint=None,
    )
    replay = line.play(again(replay))
    assert replay.state == "stopped"
    assert "restored or lost: it holds e2" in replay.stop_reason


@pytest.mark.parametrize("junk", [None, [], "x", {"still_held": 5}, {"still_held": [1, {}, {"event_id": 7}]}])
def test_junk_in_the_evidence_stops_with_a_reason(line, junk):
    replay = line.play_until(ready(line), "releasing")
    replay = tick(replay)
    line.read_replay_topic()
    line.tell("still-held", token=again(replay).token)
    Outcome.objects.filter(outcome="still-held").update(evidence=junk)
    replay = tick(replay)
    replay = Replay.objects.get()
    assert replay.state == "stopped"
    assert "does not name it" in replay.stop_reason
