"""Asking for a replay freezes exactly the plan that was shown, where the target can take it."""

from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from parking.errors import Conflict, Refused
from parking.models import Cluster, EventPayload, JournalEntry
from replay import plan, request
from replay.models import Replay
from tests.replay.line import ANNE


def ask(line, digest=None, **changes):
    digest = plan.build(line.quarantine()).digest if digest is None else digest
    return request.request(quarantine_id=line.quarantine().pk, digest=digest, actor=ANNE, reason="why", **changes)


def test_a_poison_event_without_a_decision_is_named_and_refused(line):
    line.park("e1", "e2", "e3", bad=2)
    line.decide("e1")
    line.play(line.approved())  # e2 was held, fails now, and is poison from then on
    with pytest.raises(Refused, match="1 poison event has no decision yet: e2"):
        plan.build(line.quarantine())


def test_the_request_holds_the_plan_its_reason_and_its_deadline(line):
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = ask(line)
    assert replay.state == "requested"
    assert [(s.ordinal, s.action, s.state) for s in replay.steps.all()] == [
        (1, "skip", "pending"),
        (2, "apply", "pending"),
    ]
    assert plan.frozen(replay).digest == plan.again(replay).digest == bytes(replay.digest)
    assert (replay.expires_at - replay.requested_at).total_seconds() == 3600
    assert JournalEntry.objects.latest("id").verb == "request"


def test_held_events_default_to_apply_and_the_order_is_the_ledgers(line):
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    built = plan.build(line.quarantine())
    assert [(one.event_id, one.action) for one in built.steps] == [("e1", "skip"), ("e2", "apply"), ("e3", "apply")]
    assert [one.position for one in built.steps] == sorted(one.position for one in built.steps)


def test_a_plan_that_changed_since_it_was_shown_is_a_conflict(line):
    line.park("e1")
    line.decide("e1", "skip")
    shown = plan.build(line.quarantine()).digest
    line.deliver("e2")
    line.park_all()
    with pytest.raises(Conflict, match="changed since it was shown"):
        ask(line, shown)
    assert not Replay.objects.exists()


def test_a_key_has_one_replay_at_a_time(line, at_once):
    line.park("e1")
    line.decide("e1", "skip")
    shown = plan.build(line.quarantine()).digest
    outcomes = at_once(8, lambda _: ask(line, shown))
    assert sum(isinstance(one, Replay) for one in outcomes) == 1
    assert {type(one) for one in outcomes if isinstance(one, Exception)} == {Conflict}
    assert Replay.objects.count() == 1


def test_a_plan_may_hold_no_decisions_and_then_only_sends_the_marker(line):
    line.park("e1")
    line.decide("e1", "skip")
    first = line.approved()
    line.play_until(first, "releasing")
    line.cancel(first)
    first = line.play(first)
    assert first.state == "cancelled"
    replay = line.play(line.approved())
    assert replay.state == "completed", replay.stop_reason
    assert line.steps(replay) == []
    assert line.quarantine().state == "released"


def test_a_released_key_has_nothing_to_replay(line):
    line.park("e1")
    line.decide("e1", "skip")
    line.play(line.approved())
    with pytest.raises(Refused, match="was released at"):
        ask(line)


def test_a_missing_topic_is_refused_before_anything_and_not_created(line):
    line.park("e1")
    line.decide("e1", "skip")
    line.change(replay_topic="never-made")
    with pytest.raises(Refused, match="never-made does not exist"):
        ask(line)
    assert not Replay.objects.exists()
    assert "never-made" not in AdminClient({"bootstrap.servers": line.kafka}).list_topics(timeout=60).topics


@pytest.mark.kafka
def test_a_compacted_topic_is_refused(line, make_topic):
    line.park("e1")
    line.decide("e1", "skip")
    line.change(replay_topic=make_topic("compacted", **{"cleanup.policy": "compact"}))
    with pytest.raises(Refused, match=r"cleanup\.policy=compact"):
        ask(line)


@pytest.mark.kafka
def test_an_event_that_is_larger_than_the_topic_takes_is_named_and_refused(line, make_topic):
    line.deliver("e1", b"bad" + b"x" * 100_000)
    line.park_all()
    line.decide("e1", "apply")
    line.change(replay_topic=make_topic("small", **{"max.message.bytes": "50000"}))
    with pytest.raises(Refused, match=r"at most 50000 bytes.*e1"):
        ask(line)


def test_an_event_whose_bytes_are_not_those_of_its_fingerprint_is_named_and_refused(line):
    """Such as one that was too large to be parked whole."""
    line.park("e1", "e2")
    line.decide("e1", "skip")
    EventPayload.objects.filter(event_state=line.event("e2")).update(value=None)
    with pytest.raises(Refused, match="e2 cannot be replayed"):
        ask(line)


@pytest.mark.usefixtures("kafka_is_away")
def test_a_cluster_that_does_not_answer_is_said_so(line):
    line.park("e1")
    line.decide("e1", "skip")
    Cluster.objects.update(bootstrap_servers="127.0.0.1:1")
    with pytest.raises(Refused, match=r"try again when Kafka is back.*127\.0\.0\.1:1"):
        ask(line)


def test_every_part_of_the_plan_is_in_its_digest(line):
    line.park("e1", "e2")
    line.decide("e1", "skip")
    built = plan.build(line.quarantine())
    first = built.steps[0]
    of_plan: dict[str, Any] = {
        "flow": "f", "hold_key": b"k", "follow": "stop", "follow_cap": 1,
        "pace_per_second": 1, "window": 1, "target": "t", "steps": built.steps[:1],
    }  # fmt: skip
    of_step: dict[str, Any] = {
        "event_id": "x", "position": 1, "action": "apply", "fingerprint": b"f" * 32,
        "skip_reason": "other", "ordinal": 9,
    }  # fmt: skip
    others = [replace(built, **{name: value}) for name, value in of_plan.items()] + [
        replace(built, steps=(replace(first, **{name: value}), *built.steps[1:])) for name, value in of_step.items()
    ]
    digests = {other.digest for other in others}
    assert len(digests) == len(others)
    assert built.digest not in digests
